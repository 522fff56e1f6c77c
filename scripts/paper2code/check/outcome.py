"""What a run of checks came to, and how it is shown: text, JSON, annotations. The one form of gates and `check_result.py`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from paper2code import cli
from paper2code.findings import Finding, errors, in_order


@dataclass
class Outcome:
    """`anchors`: one entry for each place-and-quote pair (file, line, place, kind, quote, state, found_at, page).
    `trace`: one row for each decision. `looked`: how many things each check looked at; a check that saw none is a finding.
    `notes`: lines for people that are no findings (what to look at next)."""

    findings: list[Finding] = field(default_factory=list)
    counts: dict = field(default_factory=dict)
    anchors: list[dict] = field(default_factory=list)
    trace: list[dict] = field(default_factory=list)
    looked: Counter = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not errors(self.findings)

    def add(self, findings: list[Finding], **looked: int) -> None:
        self.findings += findings
        self.looked.update(looked)

    def must_have_looked(self, *names: str) -> None:
        """A check that inspected nothing fails."""
        for name in names:
            if not self.looked[name]:
                self.findings.append(
                    Finding(
                        "nothing-inspected",
                        f"no {name} was found to check, so nothing was checked",
                        expected=f"at least one of: {name}",
                    )
                )

    def data(self) -> dict:
        return {
            "ok": self.ok,
            "counts": self.counts,
            "anchors": self.anchors,
            "trace": self.trace,
            "looked": dict(self.looked),
            "findings": [finding.data() for finding in in_order(self.findings)],
            "notes": self.notes,
        }

    def text(self, most: int = 40) -> str:
        """Findings, errors first; when there are many of one kind, the kinds with their counts come last."""
        ordered = in_order(self.findings)
        lines = [finding.text() for finding in ordered[:most]]
        if len(ordered) > most:
            rest = Counter(finding.check for finding in ordered[most:])
            lines.append(
                f"… and {len(ordered) - most} more: " + ", ".join(f"{count} {name}" for name, count in rest.most_common())
            )
        return "\n".join([*lines, *self.notes])

    def show(
        self,
        summary: str,
        *,
        as_json: bool = False,
        out: str | None = None,
        annotate: str | None = None,
        most: int = 40,
        more: dict | None = None,
    ) -> int:
        """Print, and give the exit code."""
        if annotate and not as_json:
            body = "\n".join([*(finding.github() for finding in in_order(self.findings)), summary])
        else:
            body = "\n".join(part for part in (self.text(most), summary) if part)
        cli.show(body, data={**(more or {}), **self.data(), "summary": summary}, as_json=as_json, out=out)
        return cli.DONE if self.ok else cli.FINDINGS
