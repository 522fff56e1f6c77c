"""Where each file of `raw/` is from: `raw/provenance.json`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

from paper2code import files, workspace
from paper2code.paper import SourceFile

SOURCE_OF = {"source": "latex", "html": "html", "pdf": "pdf", "text": "text"}


@dataclass
class Entry:
    """One file. `name` within raw/; `url` where it was downloaded, or `path` where it lay; `type` by its bytes."""

    role: str
    name: str
    url: str | None = None
    path: str | None = None
    time: str = field(default_factory=workspace.now)
    sha256: str = ""
    size: int = 0
    type: str = ""

    def source_file(self) -> SourceFile:
        return SourceFile(
            SOURCE_OF.get(self.role, "metadata"), self.name, self.url or self.path, self.time, self.sha256, self.size
        )


def write(path: Path, entries: list[Entry], missing: dict[str, str]) -> None:
    files.write_json(path, {"files": [asdict(entry) for entry in entries], "missing": missing})
