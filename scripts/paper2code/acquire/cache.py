"""What was downloaded before, by id and version, with its SHA-256. Safe for two processes, bounded, never torn.

    incoming/…                               downloads that are under way
    papers/2106.09685/v2/pdf.json            what is known of the file: URL, time, size, SHA-256 (or why there is none)
    papers/2106.09685/v2/pdf.0c1f…           its bytes, named by their hash: two processes never write the same name
                                             with other bytes, and a body is there before the record that names it
"""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import filelock
from paper2code import environment, files
from paper2code.acquire.identifiers import ArxivId

LIMIT = 4 << 30  # bytes
ABSENT_FOR = 24 * 3600  # seconds for which "there is no such file" is believed
PART_AGE = 24 * 3600  # seconds after which an unfinished download belongs to nobody
RECENT = 3600  # seconds for which what was used is not removed


@dataclass(frozen=True)
class Record:
    """What is known of one file of a paper. `absent`: why there is none, then the rest is empty."""

    role: str
    url: str
    time: str
    sha256: str = ""
    size: int = 0
    type: str = ""
    absent: str | None = None


class Cache:
    def __init__(self, folder: Path | None = None):
        self.folder = folder or environment.cache()
        self.papers = self.folder / "papers"

    def place(self, paper: ArxivId) -> Path:
        return self.papers / paper.folder / f"v{paper.version or 0}"  # 0: nobody said which version it was

    def lock(self, name: str, timeout: float = -1) -> filelock.FileLock:
        self.folder.mkdir(parents=True, exist_ok=True)
        return filelock.FileLock(self.folder / f"{name}.lock", timeout=timeout)

    def part(self, role: str) -> Path:
        """A fresh name to download to; `put` moves it from there."""
        folder = self.folder / "incoming"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{role}.{os.getpid()}.{time.time_ns()}"

    def get(self, paper: ArxivId, role: str, *, stale: bool = False) -> tuple[Record, Path | None] | None:
        """The record and the file of a role, whole and with the hash it had; None when there is none to be trusted.

        A record that says "absent" is believed for a day, for ever when `stale`. A damaged entry is removed.
        """
        record_file = self.place(paper) / f"{role}.json"
        try:
            record = Record(**files.read_json(record_file))
        except (OSError, ValueError, TypeError):
            return None
        if record.absent:
            return (record, None) if stale or time.time() - record_file.stat().st_mtime < ABSENT_FOR else None
        body = self.body(paper, record)
        try:
            if body.stat().st_size == record.size and files.sha256(body) == record.sha256:
                os.utime(self.place(paper))
                return record, body
            body.unlink()
        except OSError:
            pass
        record_file.unlink(missing_ok=True)
        return None

    def body(self, paper: ArxivId, record: Record) -> Path:
        return self.place(paper) / f"{record.role}.{record.sha256[:16]}"

    def put(self, paper: ArxivId, record: Record, part: Path | None) -> Path | None:
        """Take a finished download in: first the body, then the record that names it."""
        body = None
        self.place(paper).mkdir(parents=True, exist_ok=True)
        if part is not None:
            body = self.body(paper, record)
            os.replace(part, body)
        files.write_json(self.place(paper) / f"{record.role}.json", asdict(record))
        return body

    def versions(self, paper: ArxivId) -> list[int]:
        """The versions of a paper of which something is here, newest first."""
        found = (folder.name[1:] for folder in (self.papers / paper.folder).glob("v*"))
        return sorted((int(name) for name in found if name.isdigit()), reverse=True)

    def trim(self, keep: ArxivId, limit: int = LIMIT) -> None:
        """Remove unfinished downloads that nobody waits for, then the versions used longest ago, until `limit` holds.

        What was used within the last hour stays: another process may be at it.
        """
        with self.lock("trim"):
            for part in (self.folder / "incoming").glob("*"):
                if age(part) > PART_AGE:
                    part.unlink(missing_ok=True)
            entries = [(age(folder), size_of(folder), folder) for folder in self.papers.glob("*/v*")]
            total = sum(size for _, size, _ in entries)
            for old, size, folder in sorted(entries, reverse=True):
                if total <= limit or old < RECENT:
                    break
                if folder != self.place(keep):
                    shutil.rmtree(folder, ignore_errors=True)
                    total -= size


def age(path: Path) -> float:
    """Seconds since a path was last changed; 0 when it is gone meanwhile."""
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def size_of(folder: Path) -> int:
    """The bytes of the files in a folder, as far as they are still there."""
    total = 0
    for path in folder.glob("*"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            pass
    return total
