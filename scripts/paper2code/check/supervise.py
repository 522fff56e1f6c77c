"""Run a command under limits of time and memory, without network where the system can do that, and leave nothing running.

On Linux the command gets namespaces of its own (no network, its processes end with it) when the system allows that to a plain
user; everywhere it gets a session of its own, and what it started is found again by a mark in its environment and ended.
"""

from __future__ import annotations

import functools
import os
import shutil
import signal
import subprocess
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

MARK = "PAPER2CODE_RUN"
MOST_SAID = 4_000_000  # bytes of the command's own output that are kept


@dataclass
class Ended:
    """How a command ended. `stopped`: "" or why it was stopped (time, memory); `peak`: bytes, 0 where it cannot be measured."""

    code: int
    out: str
    err: str
    seconds: float
    peak: int = 0
    stopped: str = ""
    network: bool = True


@functools.cache
def namespaces() -> tuple[str, ...]:
    """The words before a command that give it namespaces of its own; () where the system has none for us."""
    tool = shutil.which("unshare")
    words = (tool, "--user", "--map-current-user", "--net", "--pid", "--fork", "--kill-child") if tool else ()
    for given in (words, (tool, "-r", "-n", "-p", "-f", "--kill-child") if tool else ()):
        try:
            if given and subprocess.run([*given, "true"], capture_output=True, timeout=10, check=False).returncode == 0:
                return given
        except (OSError, subprocess.SubprocessError):
            return ()
    return ()


def marked(mark: str) -> list[int]:
    """Processes whose environment carries the mark (Linux; elsewhere none is found)."""
    out = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (entry / "environ").read_bytes():
                out.append(int(entry.name))
        except (OSError, ValueError):
            continue
    return out


def resident(pids: list[int]) -> int:
    total = 0
    for pid in pids:
        try:
            total += int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
        except (OSError, ValueError, IndexError):
            continue
    return total * (os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096)


def limit_data(most: int):
    """Called in the child: a ceiling on private memory well above the limit, against one sudden allocation."""

    def set_limits() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (most, most))

    return set_limits


def run(command: list[str], *, cwd: Path, seconds: float, memory: int, environ: dict[str, str], scratch: Path) -> Ended:
    """Run `command` in `cwd` and wait. Its output goes through files in `scratch`, so that it can be large without harm."""
    mark = f"{MARK}={uuid.uuid4().hex}"
    key, _, value = mark.partition("=")
    words = namespaces()
    started = time.monotonic()
    more = {"start_new_session": True, "preexec_fn": limit_data(4 * memory)} if os.name == "posix" else {}
    out, err = scratch / "stdout", scratch / "stderr"
    peak, stopped = 0, ""
    with open(out, "wb") as to_out, open(err, "wb") as to_err:
        child = subprocess.Popen(
            [*words, *command], cwd=cwd, env={**environ, key: value}, stdin=subprocess.DEVNULL, stdout=to_out, stderr=to_err, **more
        )
        pids, looked = [child.pid], 0.0
        try:
            while child.poll() is None:
                now = time.monotonic()
                if now - looked > 0.5:
                    pids, looked = marked(mark) or [child.pid], now
                used = resident(pids)
                peak = max(peak, used)
                if now - started > seconds:
                    stopped = f"it ran longer than {seconds:g} seconds"
                elif used > memory:
                    stopped = f"it took more than {memory / 1e9:.1f} GB of memory"
                elif out.stat().st_size + err.stat().st_size > 50 * MOST_SAID:
                    stopped = "it printed without end"
                if stopped:
                    break
                time.sleep(0.05)
        finally:
            end(child, mark)
    took = time.monotonic() - started

    def said(path: Path) -> str:
        with open(path, "rb") as file:
            return file.read(MOST_SAID).decode("utf-8", errors="replace")

    return Ended(child.returncode or 0, said(out), said(err), took, peak, stopped, network=not words)


def end(child: subprocess.Popen, mark: str) -> None:
    """End the command and everything it started."""
    for _ in range(3):
        left = [pid for pid in marked(mark) if pid != os.getpid()]
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
            except OSError:
                continue
        if child.poll() is None:
            try:
                if os.name == "posix":
                    os.killpg(child.pid, signal.SIGKILL)
                else:
                    child.kill()
            except OSError:
                pass
        if not left and child.poll() is not None:
            return
        try:
            child.wait(timeout=5)
        except subprocess.TimeoutExpired:
            continue
