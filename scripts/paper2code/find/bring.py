"""Bring a repository for reading: an archive at a resolved commit, from a named code host, unpacked with caps. Never run.

`official_code/` of the workspace then holds `{owner}__{name}/` and `brought.json`: address, commit, licence, list of files, and
the form of a permalink.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urlsplit

from paper2code import cli, files, workspace
from paper2code.acquire import forms, unpack
from paper2code.acquire.cache import Cache
from paper2code.acquire.client import Body, Client, Failed, origin
from paper2code.find import code
from paper2code.workspace import Workspace

MB = 1 << 20
REFS, ARCHIVE = 64 * MB, 200 * MB  # bytes that are taken
LIMITS = unpack.Limits(total=400 * MB, each=20 * MB, members=20_000)
LICENCE = re.compile(r"^(?:licen[cs]e|copying|unlicense|notice)(?:[.-].*)?$", re.I)
LICENCES = {
    "MIT": r"\bMIT License\b|Permission is hereby granted, free of charge",
    "Apache-2.0": r"Apache License,?\s+Version 2\.0",
    "GPL-3.0": r"GNU GENERAL PUBLIC LICENSE\s+Version 3",
    "GPL-2.0": r"GNU GENERAL PUBLIC LICENSE\s+Version 2",
    "LGPL": r"GNU LESSER GENERAL PUBLIC LICENSE",
    "AGPL-3.0": r"GNU AFFERO GENERAL PUBLIC LICENSE",
    "BSD-3-Clause": r"Redistribution and use in source and binary forms[\s\S]*Neither the name",
    "CC-BY-NC": r"NonCommercial|"
    r"Non-Commercial",
    "BSD-2-Clause": r"Redistribution and use in source and binary forms",
    "MPL-2.0": r"Mozilla Public License,? (?:v\. |Version )2\.0",
    "CC-BY-4.0": r"Creative Commons Attribution 4\.0",
    "CC0": r"CC0 1\.0",
    "Unlicense": r"This is free and unencumbered software",
}
CODE = frozenset(
    ".py .ipynb .c .cc .cpp .cu .cuh .h .hpp .jl .lua .m .r .rs .go .java .scala .js .ts .sh .swift .kt .f90 .pl .mojo".split()
)
COMING = re.compile(
    r"coming soon|(?:code|it|repository) will be (?:released|available|uploaded|published|open)|to be released|stay "
    r"tuned|"
    r"under (?:construction|review|preparation)|\bTBA\b|\bTODO\b.{0,20}(?:code|release)",
    re.I,
)
SHA = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Host:
    """A code host: where it is asked, where its archives may be sent from, and the forms of its addresses."""

    name: str
    base: str
    also: tuple[str, ...] = ()
    archive: str = "{base}/{owner}/{name}/archive/{commit}.tar.gz"
    permalink: str = "https://{host}/{owner}/{name}/blob/{commit}/{path}#L{line}"


def hosts() -> dict[str, Host]:
    """The named code hosts. `PAPER2CODE_GITHUB_URL` stands in for GitHub in tests."""
    github = os.environ.get("PAPER2CODE_GITHUB_URL", "").rstrip("/")
    if github and (urlsplit(github).scheme not in ("http", "https") or not urlsplit(github).hostname):
        raise cli.Stop(
            f"PAPER2CODE_GITHUB_URL={github!r} is not an address",
            code=cli.USAGE,
            expected="http(s)://host[:port]",
            fix="unset PAPER2CODE_GITHUB_URL",
        )
    return {
        "github.com": Host("github.com", github or "https://github.com", () if github else ("https://codeload.github.com",)),
        "gitlab.com": Host(
            "gitlab.com",
            "https://gitlab.com",
            (),
            "{base}/{owner}/{name}/-/archive/{commit}/{name}-{commit}.tar.gz",
            "https://{host}/{owner}/{name}/-/blob/{commit}/{path}#L{line}",
        ),
        "bitbucket.org": Host(
            "bitbucket.org",
            "https://bitbucket.org",
            ("https://bbuseruploads.s3.amazonaws.com",),
            "{base}/{owner}/{name}/get/{commit}.tar.gz",
            "https://{host}/{owner}/{name}/src/{commit}/{path}#lines-{line}",
        ),
        "codeberg.org": Host(
            "codeberg.org", "https://codeberg.org", (), permalink="https://{host}/{owner}/{name}/src/commit/{commit}/{path}#L{line}"
        ),
    }


@dataclass(frozen=True)
class CodeAddresses:
    """The hosts that the client may talk to."""

    host: Host

    def origins(self) -> frozenset[tuple]:
        return frozenset(origin(url) for url in (self.host.base, *self.host.also))


@dataclass
class Brought:
    """What was brought. `ref`: the branch, tag or commit that was asked for (None: the default branch). `files`: path and bytes."""

    url: str
    commit: str
    folder: str
    ref: str | None
    time: str
    sha256: str
    licence: str | None
    licence_file: str | None
    permalink: str
    renamed_to: str | None = None
    files: list[dict] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def bring(url: str, place: Workspace, *, commit: str | None = None, copy: Path | None = None, say: Callable[[str], None] = cli.say) -> Brought:
    """Bring the repository at `url` (with `commit`: a branch, tag or commit of it) into `official_code/`, whole or not at all. `copy`: a
    clone or an archive of it on this machine, which is taken instead of asking its host.

    Raises Stop: the address is none of a repository on a named host (2), the host is out of reach (3), there is no such
    repository or commit, it is empty, or it is more than the caps allow (4).
    """
    address = repository(url)
    host = hosts()[address.host]
    with tempfile.TemporaryDirectory(prefix="paper2code-") as scratch:
        archive = Path(scratch) / "archive"
        if copy is not None:
            heads, moved, now, ref = {}, None, address, commit
            wanted, archive = from_copy(copy, commit, archive)
            digest = files.sha256(archive)
            say(f"taking {now.url} at {wanted[:12]} from {copy}")
        else:
            client = Client(Cache(), CodeAddresses(host), say=say)
            heads, body = refs(client, host, address, Path(scratch) / "refs")
            moved = renamed(host, address, body)
            if moved:
                say(f"{address.owner}/{address.name} is now {moved.owner}/{moved.name}")
            now = moved or address
            wanted, ref = resolve(heads, commit or joined(heads, address) or None, now)
            say(f"bringing {now.url} at {wanted[:12]}")
            digest = download(client, host, now, wanted, archive).sha256
        stated = commit_in(archive)
        if stated:
            wanted = stated
        if not SHA.fullmatch(wanted):
            raise cli.Stop(
                f"{now.url} has no branch, tag or commit {ref!r} whose full name could be found out",
                code=cli.UNUSABLE,
                expected=known(heads),
                fix="give the full commit of 40 digits",
            )
        target = place.official_code / f"{now.owner}__{now.name}"
        unpacked = Path(scratch) / "unpacked"
        left_out = open_up(archive, unpacked, now)
        root = only_folder(unpacked)
        with unpack.beside(target) as new:
            shutil.copytree(root, new, dirs_exist_ok=True)
    listed = listing(target)
    name, text = licence_of(target)
    done = Brought(
        now.url,
        wanted,
        os.fspath(target),
        ref,
        workspace.now(),
        digest,
        text,
        name,
        host.permalink.format(host=host.name, owner=now.owner, name=now.name, commit=wanted, path="PATH", line="LINE"),
        moved.url if moved else None,
        listed,
        left_out,
    )
    done.notes = notes(target, done)
    files.write_json(place.official_code / "brought.json", asdict(done))
    return done


def repository(url: str) -> code.Address:
    address = code.clean(url, typed=True)
    allowed = ", ".join(hosts())
    if address is None:
        raise cli.Stop(
            f"{url!r} is no address of a repository",
            code=cli.USAGE,
            expected=f"https://HOST/OWNER/NAME on {allowed}",
            fix="copy the address from the list that find_official_code.py prints",
        )
    if address.kind == code.GIST:
        raise cli.Stop(
            f"{address.url} is a gist, which has no archive at a commit",
            code=cli.USAGE,
            expected=f"a repository on {allowed}",
            fix="read the gist in a browser and save what you need beside the workspace",
        )
    if address.kind != code.REPOSITORY or address.host not in hosts() or not address.name:
        raise cli.Stop(
            f"{address.url} is {'a page' if address.kind == code.PAGE else 'not a repository'} that is not brought",
            code=cli.USAGE,
            expected=f"https://HOST/OWNER/NAME on {allowed}",
            fix="open it in a browser: a project page often links the repository; bring that one",
        )
    if not (re.fullmatch(r"[\w.-]{1,100}", address.owner) and re.fullmatch(r"[\w.-]{1,100}", address.name)) or ".." in address.url:
        raise cli.Stop(
            f"{url!r} is no address of a repository",
            code=cli.USAGE,
            expected="OWNER/NAME of letters, digits, . _ -",
            fix="copy the address again",
        )
    return address


def refs(client: Client, host: Host, address: code.Address, part: Path) -> tuple[dict[str, str], Body]:
    """Branches, tags and HEAD with their commits, as git itself asks for them (no account, no rate limit of an API)."""
    url = f"{host.base}/{address.owner}/{address.name}.git/info/refs?service=git-upload-pack"

    def wrong(path: Path) -> str | None:
        head = path.read_bytes()[:64]
        return None if b"# service=git-upload-pack" in head else f"{host.name} sent no list of branches"

    body = get(client, url, part, host, address, "list of branches", REFS, wrong)
    heads: dict[str, str] = {}
    data, at = part.read_bytes(), 0
    while at + 4 <= len(data):
        try:
            size = int(data[at : at + 4], 16)
        except ValueError:
            break
        line = data[at + 4 : at + size] if size > 4 else b""
        at += max(size, 4)
        line, _, capabilities = line.partition(b"\0")
        match = re.match(rb"([0-9a-f]{40}) (\S+)", line.strip())
        if match and match[2] != b"capabilities^{}":
            name = match[2].decode("utf-8", "replace")
            heads[name.removesuffix("^{}")] = match[1].decode()  # a tag's ^{} is the commit it stands for, and comes last
    if not heads:
        raise cli.Stop(
            f"{address.url} is an empty repository: it has no commit",
            code=cli.UNUSABLE,
            expected="a repository with code",
            fix="there is nothing to read; go on without official code and say so in the audit",
        )
    return heads, body


def get(
    client: Client, url: str, part: Path, host: Host, address: code.Address, name: str, cap: int, check: Callable[[Path], str | None]
) -> Body:
    try:
        return client.get(url, part, name=f"{address.owner}/{address.name}: {name}", cap=cap, check=check, polite=False)
    except Failed as problem:
        if problem.absent or re.search(r"answers (?:401|403|404|410)", str(problem)):
            raise cli.Stop(
                f"{host.name} has no public {name} of {address.owner}/{address.name} ({problem})",
                code=cli.UNUSABLE,
                expected="a public repository",
                fix="check the address; it may have been removed, renamed or made private",
            ) from problem
        if problem.host:
            raise cli.Stop(
                f"{host.name} is out of reach: {problem}",
                code=cli.UNREACHABLE,
                expected="a network connection",
                fix="try again later, or go on without official code and say so in the audit",
            ) from problem
        raise cli.Stop(
            f"the {name} of {address.owner}/{address.name} could not be had: {problem}",
            code=cli.UNREACHABLE,
            expected=f"an answer from {host.name}",
            fix="try again later",
        ) from problem


def renamed(host: Host, address: code.Address, body: Body) -> code.Address | None:
    """The repository's new address when the host sent us on to it."""
    steps = [step for step in urlsplit(body.url).path.removeprefix(urlsplit(host.base).path).split("/") if step]
    if len(steps) < 2:
        return None
    owner, name = steps[0], steps[1].removesuffix(".git")
    if (owner.lower(), name.lower()) == (address.owner.lower(), address.name.lower()):
        return None
    return replace(address, url=f"https://{host.name}/{owner}/{name}", owner=owner, name=name)


def joined(heads: dict[str, str], address: code.Address) -> str:
    """The branch in an address such as `/tree/feature/x/src`, whose name may have slashes: the longest that there is."""
    steps = [address.ref, *address.path.split("/")] if address.ref else []
    for end in range(len(steps), 0, -1):
        name = "/".join(step for step in steps[:end] if step)
        if f"refs/heads/{name}" in heads or f"refs/tags/{name}" in heads:
            return name
    return address.ref


def resolve(heads: dict[str, str], asked: str | None, address: code.Address) -> tuple[str, str | None]:
    """The commit for a branch, tag or commit (or a beginning of one); the default branch's for None."""
    if asked is None:
        return heads.get("HEAD") or next(iter(heads.values())), None
    asked = asked.strip()
    for name in (f"refs/heads/{asked}", f"refs/tags/{asked}", asked):
        if name in heads:
            return heads[name], asked
    if SHA.fullmatch(asked.lower()):
        return asked.lower(), asked
    if re.fullmatch(r"[0-9a-fA-F]{7,39}", asked):
        begins = {commit for commit in heads.values() if commit.startswith(asked.lower())}
        return (begins.pop() if len(begins) == 1 else asked.lower()), asked
    raise cli.Stop(
        f"{address.url} has no branch, tag or commit {asked!r}",
        code=cli.UNUSABLE,
        expected=known(heads),
        fix="leave --commit out for the default branch, or give one of these or a commit",
    )


def known(heads: dict[str, str], most: int = 20) -> str:
    names = sorted({name.split("/", 2)[2] for name in heads if name.startswith(("refs/heads/", "refs/tags/"))})
    return f"one of {', '.join(names[:most])}{' …' if len(names) > most else ''}, or a commit"


def download(client: Client, host: Host, address: code.Address, commit: str, part: Path) -> Body:
    url = host.archive.format(base=host.base, owner=quote(address.owner), name=quote(address.name), commit=quote(commit, safe=""))

    def wrong(path: Path) -> str | None:
        with open(path, "rb") as file:
            return None if forms.tell(file.read(forms.HEAD)) == forms.GZIP else f"{host.name} sent no archive"

    return get(client, url, part, host, address, f"archive at {commit[:12]}", ARCHIVE, wrong)


def from_copy(copy: Path, commit: str | None, archive: Path) -> tuple[str, Path]:
    """The commit and an archive of a clone (git packs it at that commit; nothing of it is run) or of an archive on this machine."""
    if copy.is_file():
        stated = commit_in(copy) or (commit if commit and SHA.fullmatch(commit) else None)
        if stated is None or commit and SHA.fullmatch(commit) and commit != stated:
            raise cli.Stop(f"{copy} does not say that it is of commit {commit}" if commit else f"{copy} does not say which commit it is of",
                           code=cli.USAGE, expected="an archive that git made, or --commit with 40 digits")
        return stated, copy
    if not copy.is_dir():
        raise cli.Stop(f"there is no file or folder {copy}", code=cli.USAGE, expected="a clone or an archive of the repository")
    environ = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environ |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0"}
    options = ["-c", "safe.directory=*", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}"]

    def git(*words: str, at: Path = copy) -> str:
        try:
            done = subprocess.run(["git", *options, "-C", os.fspath(at), *words], env=environ, check=True, capture_output=True, text=True, timeout=120)
            return done.stdout.strip()
        except FileNotFoundError as problem:
            raise cli.Stop("git is not installed, so a clone cannot be read", code=cli.ENVIRONMENT, fix="give an archive of it") from problem
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as problem:
            told = (getattr(problem, "stderr", "") or str(problem)).strip().splitlines()
            raise cli.Stop(f"git cannot read {copy}: {told[-1] if told else 'no reason given'}", code=cli.UNUSABLE,
                           expected=f"a clone that has {commit or 'a commit'}") from problem

    if git("rev-parse", "--show-prefix"):
        raise cli.Stop(f"{copy} is a folder inside another repository, not a clone of this one", code=cli.USAGE,
                       expected="the top folder of a clone", fix="name the clone's own folder, or give an archive")
    wanted = git("rev-parse", "--verify", "--end-of-options", f"{commit or 'HEAD'}^{{commit}}")
    # Packed from an empty repository that borrows the objects: the clone's own configuration may name filters, which git would run.
    bare = archive.with_name("bare")
    git("init", "--quiet", "--bare", os.fspath(bare), at=archive.parent)
    objects = (copy / git("rev-parse", "--git-path", "objects")).resolve()
    (bare / "objects/info/alternates").write_text(f"{objects}\n", encoding="utf-8")
    git("archive", "--format=tar.gz", "--prefix=repository/", f"--output={archive}", wanted, at=bare)
    return wanted, archive


def commit_in(archive: Path) -> str | None:
    """The commit that git wrote into the archive's first header."""
    try:
        with gzip.open(archive) as stream:
            match = re.search(rb"\d+ comment=([0-9a-f]{40})\n", stream.read(4096))
    except (OSError, EOFError, ValueError):
        return None
    return match[1].decode() if match else None


def open_up(archive: Path, target: Path, address: code.Address) -> list[str]:
    """Unpack with the caps; what was left out and why."""
    try:
        return unpack.unpack(archive, target, LIMITS).left_out
    except cli.Stop as stop:
        why = re.sub(r"^(?:the source archive was not unpacked|archive (?:is|holds))[: ]*", "", stop.message)
        raise cli.Stop(
            f"the archive of {address.url} was not unpacked: {why}",
            code=stop.code,
            expected=f"at most {LIMITS.members} files and {LIMITS.total // MB} MB",
            fix="read the files you need in a browser, and cite them with the commit",
        ) from stop


def only_folder(folder: Path) -> Path:
    """The one folder at the archive's root, which hosts put around the files; else the root itself."""
    inside = list(folder.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else folder


def listing(folder: Path) -> list[dict]:
    return [
        {"path": path.relative_to(folder).as_posix(), "bytes": path.stat().st_size}
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]


def licence_of(folder: Path) -> tuple[str | None, str | None]:
    """The licence's file and its kind, as its words tell; (None, None) when there is none."""
    for path in sorted(folder.iterdir()):
        if path.is_file() and LICENCE.match(path.name):
            text = path.read_text(encoding="utf-8", errors="replace")[:40_000]
            return path.name, next((name for name, pattern in LICENCES.items() if re.search(pattern, text)), "one of its own")
    return None, None


def notes(folder: Path, done: Brought) -> list[str]:
    """What a reader must know: no licence, no code, "coming soon"."""
    out = []
    coded = [entry for entry in done.files if PurePosixPath(entry["path"]).suffix.lower() in CODE]
    readme = next((folder / entry["path"] for entry in done.files if re.match(r"readme(?:\.\w+)?$", entry["path"], re.I)), None)
    words = readme.read_text(encoding="utf-8", errors="replace")[:20_000] if readme else ""
    if not coded:
        soon = COMING.search(words)
        out.append(
            "it holds no code" + (f"; its README says “{' '.join(soon.group().split())}”" if soon else "") + ": nothing can be "
            "resolved by it"
        )
    elif len(coded) <= 2 and COMING.search(words):
        out.append("it holds hardly any code, and its README says that more is to come")
    if done.licence is None:
        out.append("it has no licence file: reading it is all that is allowed without asking")
    if done.left_out:
        out.append(f"{len(done.left_out)} of its members were left out (too large, links, or unsafe names)")
    if done.renamed_to:
        out.append(f"the address in the paper has moved to {done.renamed_to}")
    return out


def told(done: Brought, most: int = 60) -> str:
    """What was brought, for a reader."""
    lines = [
        f"{done.url} at commit {done.commit}" + (f" (asked for: {done.ref})" if done.ref else " (the default branch)"),
        f"folder: {done.folder}",
        f"licence: {done.licence or 'none found'}" + (f" ({done.licence_file})" if done.licence_file else ""),
        f"permalink: {done.permalink}",
    ]
    lines += [f"note: {note}" for note in done.notes]
    lines.append(f"files: {len(done.files)}, {sum(entry['bytes'] for entry in done.files)} bytes")
    first = sorted(
        done.files, key=lambda entry: (PurePosixPath(entry["path"]).suffix.lower() not in CODE, entry["path"].count("/"), entry["path"])
    )
    lines += [f"  {entry['path']} ({entry['bytes']})" for entry in first[:most]]
    if len(first) > most:
        lines.append(f"  … and {len(first) - most} more, in {Path(done.folder).parent / 'brought.json'}")
    lines.append("It is material for reading: never run, install or copy it; cite what you take from it by the permalink.")
    return "\n".join(lines)
