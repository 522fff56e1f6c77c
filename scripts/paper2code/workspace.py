"""The workspace: where a run keeps the paper, what was read from it, and what was decided. Paths and `job.json`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from paper2code import cli, environment, files

if TYPE_CHECKING:  # a document is loaded by few of those who only want to know a mode's name
    from paper2code.paper import Paper

MODES = ("minimal", "full", "educational")
FRAMEWORKS = ("pytorch", "jax", "numpy")
PARTS = ("abstract", "headings", "equations", "references")  # what a paper may really not have
FOLDER = ".paper2code_work"


def stated(key: str) -> str | None:
    """A string of pyproject.toml by its key; None where the file or the key is not."""
    if environment.PROJECT.is_file():
        for line in environment.PROJECT.read_text(encoding="utf-8").splitlines():
            if line.startswith(f"{key} = "):
                return line.split('"')[1]
    return None


def version() -> str:
    """The tool's version, from the one place that states it (pyproject.toml, or the installed package's record of it)."""
    if told := stated("version"):
        return told
    from importlib import metadata

    return metadata.version("paper2code")


def homepage() -> str:
    """The address under which the project can be reached, from pyproject.toml; empty when it states none."""
    return stated("Homepage") or ""


def now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


@dataclass
class Job:
    """What was asked for. `paper` is the id with its resolved version, or the local file's name; `without` the parts that
    the paper was said not to have, which gate 1 then does not ask for."""

    paper: str
    asked: str
    mode: str = "minimal"
    framework: str = "pytorch"
    tool: str = ""
    started: str = ""
    without: list[str] = field(default_factory=list)

    def __post_init__(self):
        self.tool = self.tool or version()
        self.started = self.started or now()


class Workspace:
    """A folder with the files of one run; every path of it is named here and nowhere else."""

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self.job_file = self.folder / "job.json"
        self.raw = self.folder / "raw"
        self.provenance = self.raw / "provenance.json"
        self.paper_file = self.folder / "paper.json"
        self.text = self.folder / "paper_text.md"
        self.metadata = self.folder / "paper_metadata.json"
        self.outline = self.folder / "outline.md"
        self.sections = self.folder / "sections"
        self.algorithms = self.folder / "algorithms"
        self.equations = self.folder / "equations"
        self.tables = self.folder / "tables"
        self.figures = self.folder / "figures"
        self.footnotes = self.folder / "footnotes.md"
        self.references = self.folder / "references.md"
        self.evidence = self.folder / "evidence"
        self.official_code = self.folder / "official_code"
        self.contribution = self.folder / "contribution.md"
        self.ledger = self.folder / "ledger.yaml"
        self.audit = self.folder / "ambiguity_audit.md"
        self.gates = self.folder / "gates.json"

    @classmethod
    def named(cls, paper_id: str) -> Workspace:
        """The workspace that a paper's id gets under the current folder."""
        return cls(Path(FOLDER) / paper_id.replace("/", "__"))

    @property
    def pdf(self) -> Path | None:
        """The paper's PDF as downloaded, where there is one."""
        return next(iter(sorted(self.raw.glob("*.pdf"))), None) if self.raw.is_dir() else None

    def job(self) -> Job:
        self.must_exist(self.job_file)
        try:
            job = Job(**files.read_json(self.job_file))
            for name, given, known in (("mode", job.mode, MODES), ("framework", job.framework, FRAMEWORKS)):
                if given not in known:
                    raise ValueError(f"{name} {given!r} is none of {', '.join(known)}")
            if not isinstance(job.paper, str) or not isinstance(job.without, list) or not set(job.without) <= set(PARTS):
                raise ValueError("paper or without is not what fetch_paper.py writes there")
        except (ValueError, TypeError) as problem:
            raise cli.Stop(f"{self.job_file} cannot be used: {problem}", code=cli.USAGE,
                           expected="the job as fetch_paper.py wrote it; its --mode, --framework and --without change it",
                           fix="fetch the paper into a new folder and copy contribution.md and ledger.yaml there") from problem
        return job

    def save_job(self, job: Job) -> None:
        files.write_json(self.job_file, asdict(job))

    def paper(self) -> Paper:
        from paper2code.paper import Paper

        self.must_exist(self.paper_file)
        try:
            return Paper.load(self.paper_file)
        except ValueError as problem:
            raise cli.Stop(f"{self.paper_file}: {problem}", code=cli.USAGE,
                           expected="a paper.json written by this version of paper2code",
                           fix="run fetch_paper.py again on the same paper and folder") from problem

    def must_exist(self, path: Path) -> None:
        if not path.is_file():
            raise cli.Stop(f"{path} does not exist, so {self.folder} is not (yet) a workspace with that stage done",
                           code=cli.USAGE, expected="the folder that fetch_paper.py wrote to",
                           fix="fetch_paper.py PAPER, or name the right folder")
