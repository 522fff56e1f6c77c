"""The demonstration: the commands of a run, one after the other, as a person would type them, on the bundled paper."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from paper2code import cli, files

SHOWN = 12  # lines of a step's output that are shown


class Run:
    """Starts the scripts and tells, for each, the command, the heart of what it printed, and how long it took."""

    def __init__(self, out: Path, scripts: Path):
        self.out, self.scripts = out, scripts

    def heading(self, text: str) -> None:
        print(f"\n== {text}", flush=True)

    def note(self, text: str) -> None:
        print(f"   {text}", flush=True)

    def file(self, name: str) -> None:
        """The beginning of a file, without empty lines."""
        print(f"$ cat {name}", flush=True)
        lines = [line for line in (self.out / name).read_text(encoding="utf-8").splitlines() if line.strip()]
        for line in lines[:SHOWN]:
            print(f"   {line[:200]}")
        if len(lines) > SHOWN:
            print(f"   … {len(lines) - SHOWN} more lines", flush=True)

    def script(self, name: str, *arguments: str, only: str | None = None) -> None:
        """Run one script in the output folder; `only` keeps the lines that contain it. Raises Stop when it fails."""
        print(f"$ python3 scripts/{name} {' '.join(arguments)}", flush=True)
        started = time.monotonic()
        # What a script says of its progress goes straight through: the notebook's gate takes its time.
        done = subprocess.run([sys.executable, str(self.scripts / name), *arguments], cwd=self.out, stdout=subprocess.PIPE, text=True,
                              encoding="utf-8", errors="replace", env={**os.environ, "PYTHONIOENCODING": "utf-8"})
        lines = [line for line in done.stdout.splitlines() if only is None or only in line]
        for line in lines[:SHOWN]:
            print(f"   {line[:200]}")
        if len(lines) > SHOWN:
            print(f"   … {len(lines) - SHOWN} more lines")
        print(f"   ({time.monotonic() - started:.1f} s)", flush=True)
        if done.returncode:
            raise cli.Stop(f"{name} ended with {done.returncode}:\n{done.stdout[-1500:]}", code=done.returncode,
                           fix="this should not happen on the bundled paper; please report it with the lines above")


def run(example: Path, out: Path, scripts: Path) -> int:
    """All stages in `out`. What an agent would write is copied from the example."""
    if out.exists():
        shutil.rmtree(out)
    files.write_json(out / "demo.json", {"made_by": "paper2code demo"})
    go = Run(out, scripts)
    work, result = "work", "result"
    go.heading("Stage 1: the paper is read (LaTeX source, HTML and PDF), and laid out")
    go.script("fetch_paper.py", str(example / "paper"), work, "--mode", "full")
    go.script("check_stage.py", "1", work)
    go.script("search_paper.py", work, "--item", "batch-size")
    go.heading("What the evidence sweep found, before anything is decided")
    for name in ("contradictions", "deferred", "defaults"):
        go.file(f"{work}/evidence/{name}.md")

    go.heading("Stage 2: what is built, and what is not (written by the agent; here: the finished example's)")
    shutil.copy(example / "work" / "contribution.md", out / work)
    go.script("check_stage.py", "2", work)

    go.heading("Stage 3: every decision, quoted or flagged")
    shutil.copy(example / "work" / "ledger.yaml", out / work)
    go.script("check_stage.py", "3", work)

    go.heading("Stage 4: the code, laid from the ledger (bodies: the finished example's)")
    shutil.copytree(example / "result", out / result)
    go.script("check_stage.py", "4", work, "--result", result)

    go.heading("What a gate finds: one digit of a quoted number is changed")
    config = out / result / "configs" / "base.yaml"
    honest = config.read_text(encoding="utf-8")
    tamper(config, honest)
    done = subprocess.run([sys.executable, str(scripts / "check_result.py"), result, "--paper", work, "--most", "4"], cwd=out,
                          capture_output=True, text=True, encoding="utf-8")
    for line in done.stdout.splitlines()[:4]:
        print(f"   {line[:300]}")
    config.write_text(honest, encoding="utf-8")
    if done.returncode != cli.FINDINGS:
        raise cli.Stop("the changed digit was not found", code=cli.FINDINGS, fix="please report this")

    go.heading("Stage 5: the notebook runs and tests src/")
    go.script("check_stage.py", "5", work, "--result", result)

    go.heading("The evidence, to look at")
    go.script("write_report.py", result, "--paper", work, "--out", "report.html")
    print(f"\nreport: {out / 'report.html'}")
    print(f"code:   {out / result}")
    return cli.DONE


def tamper(config: Path, text: str) -> None:
    """Change one digit inside the first quotation of the configuration that holds one."""
    lines = text.splitlines(keepends=True)
    for at, line in enumerate(lines):
        opening = line.find("“") if "“" in line else line.find('"')
        digits = [i for i, char in enumerate(line) if char.isdigit() and i > opening >= 0 and line.lstrip().startswith("#")]
        if digits:
            lines[at] = f"{line[:digits[0]]}{(int(line[digits[0]]) + 1) % 10}{line[digits[0] + 1:]}"
            config.write_text("".join(lines), encoding="utf-8")
            return
    raise cli.Stop(f"{config} quotes no number", code=cli.FINDINGS)
