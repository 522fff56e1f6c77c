"""The private environment. Standard library only; imported before anything else.

A script calls `ensure()` once its arguments are read. Where the dependencies of pyproject.toml are not at hand, a
private environment is made in the user's cache (by uv if it is on PATH, else venv and pip) and the script starts again
inside it. It is keyed by a hash of what it holds, built beside its place under a lock and moved there when whole, so
that an interrupted build leaves nothing and two starts at once make one. The user's own environment is never touched.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import sys
import time
from pathlib import Path

from paper2code import cli

OLDEST = (3, 10)
CHECKOUT = Path(__file__).resolve().parents[2]
PROJECT = CHECKOUT / "pyproject.toml"
# The folder that an agent loads: this checkout, or what the pip-installed package carries of it.
SKILL = CHECKOUT if (CHECKOUT / "SKILL.md").is_file() else Path(__file__).resolve().parent / "skill"
# Megabytes on disk once installed, as measured on Linux; for the message and for the check of free space.
SIZES = {"": 520, "notebook": 90, "torch": 900, "jax": 750, "stats": 180, "test": 420, "clients": 10}
# Where CPU builds of PyTorch are; PyPI's for Linux carry several gigabytes of CUDA libraries.
TORCH_CPU = "https://download.pytorch.org/whl/cpu"
PATIENCE = 1800  # seconds that one build, or waiting for another's, may take


def cache() -> Path:
    """The cache folder: `PAPER2CODE_CACHE`, else the platform's place for caches. It need not exist yet."""
    named = os.environ.get("PAPER2CODE_CACHE")
    if named:
        return Path(named).expanduser().absolute()
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"]) / "paper2code" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "paper2code"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "paper2code"


def requirements(*extras: str, base: bool = True) -> list[str]:
    """The requirement strings of pyproject.toml: the dependencies (unless `base` is false), then those of each extra.

    Reads the two lists by pattern, since Python 3.10 has no TOML parser; a test holds this to tomllib.
    """
    text = PROJECT.read_text(encoding="utf-8")
    project, _, optional = text.partition("[project.optional-dependencies]")

    def array(name: str, part: str) -> list[str]:
        found = re.search(rf"^{re.escape(name)}\s*=\s*\[(.*?)\]\s*$", part, re.M | re.S)
        if not found:
            raise KeyError(f"pyproject.toml has no list {name!r}")
        return re.findall(r'"([^"]+)"', found.group(1))

    out = array("dependencies", project) if base else []
    for extra in extras:
        out += array(extra, optional)
    return list(dict.fromkeys(out))


def key(wanted: list[str]) -> str:
    """What an environment is called by: its requirements, the Python it is made with, and the machine's kind."""
    facts = [*sorted(wanted), f"{sys.version_info[0]}.{sys.version_info[1]}", sys.platform, platform.machine()]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:12]


def python_of(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def installed() -> bool:
    """Whether this is the pip-installed package, whose dependencies pip has already brought in."""
    return not PROJECT.is_file()


def ensure(*extras: str) -> None:
    """Go on only in an interpreter that has the dependencies of pyproject.toml and of these extras.

    Either returns (they are here) or starts the same script again in the private environment and never returns.
    Raises cli.Stop with exit code 5 when that cannot be had.
    """
    if sys.version_info < OLDEST:
        raise cli.Stop(f"this is Python {sys.version_info[0]}.{sys.version_info[1]}", code=cli.ENVIRONMENT,
                       expected="Python 3.10 or newer",
                       fix="start the script with a newer python3, or name one in PAPER2CODE_PYTHON")
    if installed():
        return must_have(requirements_of_package(*extras))
    own = os.environ.get("PAPER2CODE_PYTHON")
    if inside(own):
        return must_have(requirements(*extras)) if own else None
    restart(Path(own).expanduser() if own else make(requirements(*extras), sizes=("", *extras)))


def interpreter(*extras: str, base: bool = False) -> Path:
    """A Python that has these extras (and, with `base`, the scripts' dependencies), to be started as another process.

    The user's own (`PAPER2CODE_PYTHON`, the active virtual environment, the Python on PATH) where it has them already,
    else a private environment, made now. Raises cli.Stop with exit code 5.
    """
    import shutil

    wanted = requirements_of_package(*extras) if installed() else requirements(*extras, base=base)
    tried = [os.environ.get("PAPER2CODE_PYTHON"), sys.executable, shutil.which("python3"), shutil.which("python")]
    for python in dict.fromkeys(path for path in tried if path):
        if not lacking(wanted, python):
            return Path(python)
    return make(wanted, sizes=(("",) if base else ()) + extras)


def inside(own: str | None) -> bool:
    """Whether this process is already the one it should be."""
    process, _, _ = os.environ.get("PAPER2CODE_INSIDE", "").partition(":")
    if process and int(process) in (os.getpid(), os.getppid() if os.name == "nt" else -1):
        return True
    if own:
        return same(sys.executable, own)
    return Path(sys.prefix, "paper2code.json").is_file() and sys.prefix != sys.base_prefix


def same(one: str, other: str) -> bool:
    # Not resolved: a virtual environment's python is a link to the one it was made with.
    return os.path.normcase(os.path.abspath(one)) == os.path.normcase(os.path.abspath(os.path.expanduser(other)))


def restart(python: Path) -> None:
    """Run this same script and arguments with `python`. On Windows, where exec does not wait, as a child."""
    if not python.is_file():
        raise cli.Stop(f"there is no interpreter at {python}", code=cli.ENVIRONMENT,
                       expected="PAPER2CODE_PYTHON to name a Python 3.10+ that has paper2code's dependencies",
                       fix="unset PAPER2CODE_PYTHON to let paper2code make a private environment")
    # -E -s: nothing of the user's PYTHONPATH or user site gets in. Bytecode goes to the cache, not into the skill.
    argv = [str(python), "-E", "-s", "-X", f"pycache_prefix={cache() / 'bytecode'}", *sys.argv]
    environ = {**os.environ, "PAPER2CODE_INSIDE": f"{os.getpid()}:{python}"}
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "nt":
        import subprocess

        sys.exit(subprocess.call(argv, env=environ))
    os.execve(argv[0], argv, environ)


# --- what an interpreter has -------------------------------------------------------------------------------------------

ASK = """
import json, sys
from importlib import metadata
out = {}
for name in sys.argv[1:]:
    try: out[name] = metadata.version(name)
    except metadata.PackageNotFoundError: out[name] = None
print(json.dumps([list(sys.version_info[:2]), out]))
"""


def split(requirement: str) -> tuple[str, list[tuple[str, tuple[int, ...]]]]:
    """`name>=1.2,<3` as its name and its bounds."""
    name, bounds = re.match(r"([A-Za-z0-9._-]+)\s*(.*)", requirement).groups()
    return name, [(sign, numbers(value)) for sign, value in re.findall(r"(==|>=|<)\s*([0-9.]+)", bounds)]


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.split("+")[0])[:4])


def fits(version: str, bounds: list[tuple[str, tuple[int, ...]]]) -> bool:
    """Whether a version lies in the bounds; of an exact pin (ours of torch) only the major version counts, since the
    user's own build serves as well."""
    have = numbers(version)
    return all({"==": have[:1] == value[:1], ">=": have >= value, "<": have < value}[sign] for sign, value in bounds)


def lacking(wanted: list[str], python: str | Path) -> list[str]:
    """Those of the requirements that an interpreter does not meet (all of them when it cannot be started)."""
    import subprocess

    needs = dict(split(requirement) for requirement in wanted)
    try:
        told = subprocess.run([str(python), "-E", "-s", "-c", ASK, *needs], capture_output=True, text=True, timeout=30,
                              check=True)
        age, have = json.loads(told.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return wanted
    if tuple(age) < OLDEST:
        return wanted
    return [f"{name} ({have[name] or 'not installed'})" for name, bounds in needs.items()
            if have[name] is None or not fits(have[name], bounds)]


def must_have(wanted: list[str]) -> None:
    """Stop unless this very interpreter meets the requirements."""
    from importlib import metadata

    missing = []
    for requirement in wanted:
        name, bounds = split(requirement)
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            missing.append(requirement)
            continue
        if not fits(version, bounds):
            missing.append(f"{requirement} (found {version})")
    if missing:
        raise cli.Stop(f"{sys.executable} lacks {', '.join(missing)}", code=cli.ENVIRONMENT,
                       expected="an interpreter with paper2code's dependencies",
                       fix="install them there, or unset PAPER2CODE_PYTHON to let paper2code make a private environment")


def requirements_of_package(*extras: str) -> list[str]:
    from importlib import metadata

    out = []
    for line in metadata.requires("paper2code") or ():
        requirement, _, marker = line.partition(";")
        extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)", marker)
        if extra is None or extra.group(1) in extras:
            out.append(requirement.strip())
    return out


# --- making one --------------------------------------------------------------------------------------------------------


class Lock:
    """One process at a time; the system lets go of it when the process ends, however it ends."""

    def __init__(self, path: Path):
        self.path = path

    def __enter__(self) -> Lock:
        self.file = open(self.path, "a+b")  # noqa: SIM115
        waited, until = False, time.monotonic() + PATIENCE
        while not self.take():
            if not waited:
                cli.say("another start is making the same environment; waiting for it …")
                waited = True
            if time.monotonic() > until:
                raise cli.Stop(f"waited {PATIENCE // 60} minutes for another start to make the environment", code=cli.ENVIRONMENT,
                               fix="see whether another paper2code hangs, end it, and run the same command again")
            time.sleep(0.3)
        return self

    def take(self) -> bool:
        try:
            if os.name == "nt":
                import msvcrt

                self.file.seek(0)
                msvcrt.locking(self.file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            return False

    def __exit__(self, *unused) -> None:
        self.file.close()


def make(wanted: list[str], *, sizes: tuple[str, ...] = ("",)) -> Path:
    """The python of the private environment that holds these requirements, made first if it is not there yet."""
    homes = cache() / "environments"
    folder = homes / key(wanted)
    if (folder / "paper2code.json").is_file() and python_of(folder).exists():
        return python_of(folder)
    import shutil

    megabytes = sum(SIZES.get(name, 200) for name in sizes)
    try:
        homes.mkdir(parents=True, exist_ok=True)
        with Lock(homes / f"{folder.name}.lock"):
            if (folder / "paper2code.json").is_file() and python_of(folder).exists():
                return python_of(folder)
            for left in homes.glob(f"{folder.name}*"):
                if left.is_dir():  # half built by a start that was killed, or broken since
                    shutil.rmtree(left, ignore_errors=True)
            free = shutil.disk_usage(homes).free >> 20
            if free < megabytes:
                raise cli.Stop(f"{free} MB are free in {homes}, the environment takes about {megabytes} MB", code=cli.ENVIRONMENT,
                               fix="free some space, or name a roomier folder in PAPER2CODE_CACHE")
            build(folder, wanted, megabytes)
    except OSError as problem:
        raise cli.Stop(f"the private environment cannot be made in {homes}: {problem.strerror or problem}",
                       code=cli.ENVIRONMENT, expected="a cache folder that can be written to",
                       fix=f"name one in PAPER2CODE_CACHE, or {OWN}") from problem
    return python_of(folder)


def build(folder: Path, wanted: list[str], megabytes: int) -> None:
    """Make the environment beside `folder` and move it there. The caller holds the lock."""
    import shutil

    beside = folder.with_name(f"{folder.name}.part-{os.getpid()}")
    names = [split(requirement)[0] for requirement in wanted]
    cli.say(f"making paper2code's private environment, once: about {megabytes} MB in {folder}")
    cli.say(f"  {', '.join(names)}")
    started = time.monotonic()
    try:
        uv = shutil.which("uv")
        torch = "torch" in names
        if uv and not torch:
            work([uv, "venv", "-q", "--python", base_python(), str(beside)], beside)
            install = [uv, "pip", "install", "-q", "--python", str(python_of(beside))]
        else:
            if has_venv():
                work([base_python(), "-m", "venv", str(beside)], beside)
            elif uv:
                work([uv, "venv", "-q", "--seed", "--python", base_python(), str(beside)], beside)
            else:
                raise no_venv()
            # pip prefers the CPU build where it can reach it, and goes on with PyPI's where it cannot.
            cpu = ["--extra-index-url", TORCH_CPU, "--retries", "1"] if torch and sys.platform == "linux" else []
            install = [str(python_of(beside)), "-m", "pip", "install", "--progress-bar", "off", "--no-input",
                       "--disable-pip-version-check", "--no-warn-script-location", *cpu]
        if wanted:
            work([*install, *wanted], beside)
        missing = lacking(wanted, python_of(beside))
        if missing:
            raise cli.Stop(f"the environment was made but lacks {', '.join(missing)}", code=cli.ENVIRONMENT,
                           fix="run the same command again; if it comes back, name your own interpreter in PAPER2CODE_PYTHON")
        (beside / "paper2code.json").write_text(json.dumps({"requirements": wanted}, indent=1), encoding="utf-8")
        os.replace(beside, folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    cli.say(f"  ready after {time.monotonic() - started:.0f} s")


def base_python() -> str:
    """The interpreter that virtual environments are made from: never another virtual environment's, which may go away."""
    return getattr(sys, "_base_executable", None) or sys.executable


def has_venv() -> bool:
    from importlib.util import find_spec

    return find_spec("venv") is not None and find_spec("ensurepip") is not None


def no_venv() -> cli.Stop:
    return cli.Stop("this Python has neither the venv module with ensurepip, nor is uv on PATH", code=cli.ENVIRONMENT,
                    expected="one of the two, to make a private environment with",
                    fix=f"Debian and Ubuntu: install python3-venv; anywhere: install uv; or {OWN}")


OWN = "name an interpreter that has the dependencies in PAPER2CODE_PYTHON"
CAUSES = (
    (r"ensurepip is not available|No module named (ensurepip|venv|pip)", None),
    (r"No space left on device|Errno 28|os error 28",
     ("the disk is full", "free some space, or name a roomier folder in PAPER2CODE_CACHE")),
    (r"resolution|NewConnectionError|Connection(Error| refused| reset)|Network is unreachable|timed? ?out|Max retries"
     r"|dns error|error sending request|Failed to fetch|ProxyError|SSLError|certificate|from versions: none",
     ("the package index cannot be reached, or lacks a package",
      f"connect to the network once, or set your proxy or index (PIP_INDEX_URL), or {OWN}")),
)


def work(command: list[str], folder: Path) -> None:
    """Run one step of the build with a line of progress now and then. Raises cli.Stop with the cause it can tell."""
    import subprocess
    import tempfile

    dropped = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV"}
    environ = {name: value for name, value in os.environ.items() if name not in dropped}
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=environ)
        started = told = time.monotonic()
        try:
            while process.poll() is None:
                time.sleep(0.1)
                now = time.monotonic()
                if now - started > PATIENCE:
                    raise cli.Stop(f"installing took longer than {PATIENCE // 60} minutes", code=cli.ENVIRONMENT,
                                   fix="try again on a faster connection")
                if now - told > 10:
                    told = now
                    cli.say(f"  … {now - started:.0f} s, {size_of(folder)} MB so far")
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if process.returncode == 0:
            return
        log.seek(0)
        output = log.read().decode("utf-8", "replace")
    for pattern, cause in CAUSES:
        if re.search(pattern, output, re.I):
            if cause is None:
                raise no_venv()
            raise cli.Stop(f"the private environment cannot be made: {cause[0]}", code=cli.ENVIRONMENT, fix=cause[1])
    tail = "\n    ".join(output.strip().splitlines()[-8:])
    raise cli.Stop(f"the private environment cannot be made; the installer said:\n    {tail}", code=cli.ENVIRONMENT,
                   fix="mend what it says, or name an interpreter that has the dependencies in PAPER2CODE_PYTHON")


def size_of(folder: Path) -> int:
    """Megabytes in a folder, as far as it can be read."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_size
            except OSError:
                pass
    return total >> 20
