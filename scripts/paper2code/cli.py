"""What every script shares: exit codes, one clear message on failure, `--json`, `--out`. Standard library only.

A script is thin. Its shape is always

    def main(argv=None): parser → arguments → environment.ensure() → the library → cli.show(...)
    if __name__ == "__main__": sys.exit(cli.run(main))

so that `--help` and wrong arguments are answered before anything heavy is imported.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

DONE, FINDINGS, USAGE, UNREACHABLE, UNUSABLE, ENVIRONMENT, GATE_ORDER, INTERRUPTED = 0, 1, 2, 3, 4, 5, 6, 130

EXIT_CODES = {
    DONE: "done",
    FINDINGS: "findings: a check failed",
    USAGE: "wrong arguments or input",
    UNREACHABLE: "the source cannot be reached",
    UNUSABLE: "the paper cannot be used (withdrawn, not found, nothing readable)",
    ENVIRONMENT: "the environment cannot be set up (also: disk full, folder not writable)",
    GATE_ORDER: "a gate before this one has not passed",
    INTERRUPTED: "interrupted",
}


# What the system says of a path that cannot be what it was named for.
MISNAMED = {errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.EEXIST, errno.EBUSY, errno.ENOTEMPTY, errno.EINVAL, errno.ENOENT}


class Stop(Exception):
    """The run ends here with one message: what was wrong, what was expected, what to try.

    `code` is one of the exit codes above. Raised by the library, turned into text by `run`.
    """

    def __init__(self, message: str, *, code: int, expected: str | None = None, fix: str | None = None):
        super().__init__(message)
        self.message, self.code, self.expected, self.fix = message, code, expected, fix

    def text(self) -> str:
        lines = [f"error: {self.message}"]
        if self.expected:
            lines.append(f"  expected: {self.expected}")
        if self.fix:
            lines.append(f"  try: {self.fix}")
        return "\n".join(lines)


def parser(description: str, *, examples: str, codes: tuple[int, ...] = (DONE, USAGE, ENVIRONMENT)) -> argparse.ArgumentParser:
    """An argument parser whose `--help` ends with examples and the exit codes this script can end with."""
    told = "\n".join(f"  {code:>3}  {EXIT_CODES[code]}" for code in sorted({*codes, INTERRUPTED}))
    epilog = f"examples:\n{examples.strip(chr(10))}\n\nexit codes:\n{told}"
    return argparse.ArgumentParser(
        description=description, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )


def say(line: str) -> None:
    """One line of progress or diagnosis, on stderr."""
    print(line, file=sys.stderr, flush=True)


def show(text: str, *, data: object = None, as_json: bool = False, out: str | os.PathLike | None = None) -> None:
    """Print the result (the text, or `data` as JSON) on stdout, or write it to `out` whole or not at all."""
    body = json.dumps(data, ensure_ascii=False, indent=2) if as_json else text
    body = body.rstrip("\n") + "\n"
    if out is None:
        sys.stdout.write(body)
        sys.stdout.flush()
        return
    from paper2code import files

    files.write(Path(out), body)
    say(f"written: {out}")


def run(main: Callable[[], int | None]) -> int:
    """Call `main` and give back an exit code. Never a traceback for what a user can cause."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        return main() or DONE
    except Stop as stop:
        say(stop.text())
        return stop.code
    except KeyboardInterrupt:
        say("interrupted; nothing half written was kept. Run the same command again to go on.")
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as problem:
        if problem.errno in (errno.ENOSPC, errno.EDQUOT):
            say(Stop(f"no space left on the disk while writing {problem.filename or 'a file'}", code=ENVIRONMENT,
                     fix="free some space (paper2code's cache can be deleted) and run the same command again").text())
            return ENVIRONMENT
        if problem.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            say(Stop(f"not allowed to write or read {problem.filename or 'a file'}", code=ENVIRONMENT,
                     fix="name another folder, or change its permissions").text())
            return ENVIRONMENT
        if problem.errno in MISNAMED:
            say(Stop(f"{problem.filename2 or problem.filename or 'a path'} cannot be used: {problem.strerror}", code=USAGE,
                     expected="the name of a file, in a folder that is or can be made", fix="name another path").text())
            return USAGE
        raise
