"""Findings: what a check has to say, with place, expectation and mend. The one form that all checks and gates use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

ERROR, WARNING = "error", "warning"


@dataclass(frozen=True)
class Finding:
    """One thing a check found.

    check: kebab-case name of the check, e.g. `quote-altered`. file: relative to the folder that was checked.
    line: 1-based, None for a whole file. fix: what to do, ready to be followed. evidence: the paper's words or the like.
    """

    check: str
    message: str
    file: str | None = None
    line: int | None = None
    severity: str = ERROR
    expected: str | None = None
    fix: str | None = None
    evidence: str | None = None

    def text(self) -> str:
        """`file:line: check: message; expected: …; fix: …`, one line."""
        place = f"{self.file}:{self.line}: " if self.file and self.line else f"{self.file}: " if self.file else ""
        word = "" if self.severity == ERROR else f"{self.severity}: "
        parts = [f"{place}{word}{self.check}: {self.message}"]
        parts += [f"{name}: {value}" for name, value in (("expected", self.expected), ("fix", self.fix)) if value]
        return " ; ".join(" ".join(part.split()) for part in parts)

    def github(self) -> str:
        """The finding as a GitHub Actions annotation."""

        def escape(value: str, also: str = "") -> str:
            for char in "%\r\n" + also:
                value = value.replace(char, f"%{ord(char):02X}")
            return value

        where = ",".join(f"{key}={escape(str(value), ':,')}" for key, value in
                         (("file", self.file), ("line", self.line), ("title", self.check)) if value)
        tail = f" fix: {self.fix}" if self.fix else ""
        return f"::{self.severity} {where}::{escape(self.message + tail)}"

    def data(self) -> dict:
        return asdict(self)


def errors(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.severity == ERROR]


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Errors before warnings, then by file and line, each once."""
    return sorted(dict.fromkeys(findings), key=lambda f: (f.severity != ERROR, f.file or "", f.line or 0, f.check, f.message))
