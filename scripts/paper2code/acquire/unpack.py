"""Unpacking what came from elsewhere: bounded in bytes, members, ratio and depth, nothing outside the folder, no links.

A member is read through a capped stream and written as a plain file. TeX is never run, nothing is executed.
"""

from __future__ import annotations

import errno
import gzip
import lzma
import os
import shutil
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from paper2code import cli
from paper2code.acquire import forms

CHUNK = 1 << 16
HEADER = 1 << 20  # bytes of one member's tar headers


@dataclass(frozen=True)
class Limits:
    total: int = 500 << 20  # bytes written in all
    each: int = 200 << 20  # bytes of one member
    members: int = 20_000
    ratio: int = 200  # unpacked to packed, judged beyond `free` bytes
    free: int = 16 << 20
    depth: int = 32  # folders in one another
    name: int = 255  # bytes of one part of a path


@dataclass
class Unpacked:
    """`form`: tar.gz, tar, tex.gz, tex, zip, folder, pdf or html. `left_out`: what was not written, and why."""

    form: str
    folder: Path
    files: int = 0
    bytes: int = 0
    left_out: list[str] = field(default_factory=list)

    def leave(self, name: str, why: str) -> None:
        if len(self.left_out) < 100:
            self.left_out.append(f"{printable(name)}: {why}")


def printable(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode("utf-8")[:200]


def too_much(what: str) -> cli.Stop:
    return cli.Stop(f"the source archive was not unpacked: {what}", code=cli.UNUSABLE,
                    expected="the LaTeX source of one paper", fix="use --source pdf, or unpack it yourself and name the folder")


class Capped:
    """A stream that counts what goes through it and stops a bomb while it goes off.

    `packed`: the size of the packed file, which the ratio is judged against. `header`: what may still be read before the
    next member's data begins (tarfile holds a header in memory, and a header may say that it is gigabytes long).
    """

    def __init__(self, stream: BinaryIO, packed: int, limits: Limits):
        self.stream, self.packed, self.limits, self.count = stream, max(packed, 1), limits, 0
        self.header: int | None = None

    def read(self, size: int = CHUNK) -> bytes:
        data = self.stream.read(min(size, CHUNK * 16))
        self.count += len(data)
        if self.header is not None:
            self.header -= len(data)
            if self.header < 0:
                raise too_much("one of its headers is larger than any real one")
        if self.count > self.limits.total + (self.limits.members << 10):
            raise too_much(f"it unpacks to more than {self.limits.total >> 20} MB")
        if self.count > self.limits.free and self.count > self.limits.ratio * self.packed:
            raise too_much(f"it unpacks to more than {self.limits.ratio} times its size, as only a bomb does")
        return data


def place(name: str, done: Unpacked, limits: Limits) -> PurePosixPath | None:
    """Where a member may go inside the folder; None (and a word in `left_out`) when nowhere."""
    path = PurePosixPath(name.replace("\\", "/"))
    parts = [part for part in path.parts if part != "."]
    if path.is_absolute() or ".." in parts or (parts and len(parts[0]) == 2 and parts[0][1] == ":"):
        done.leave(name, "its name leads out of the folder")
    elif not parts or any(ord(char) < 32 for char in name):
        done.leave(name, "its name cannot be a file's")
    elif len(parts) > limits.depth:
        done.leave(name, f"more than {limits.depth} folders deep")
    elif any(len(part.encode("utf-8", "surrogateescape")) > limits.name for part in parts):
        done.leave(name, "its name is too long")
    elif parts[0] == "__MACOSX" or parts[-1].startswith("._") or parts[-1] in (".DS_Store", "Thumbs.db") or ".git" in parts:
        return None  # what systems leave behind, no part of the paper
    else:
        # A name that is not UTF-8 is read as latin-1, so that it can be written on every system.
        return PurePosixPath(*(part.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
                               if valid(part) else part.encode("utf-8", "surrogateescape").decode("latin-1") for part in parts))
    return None


def valid(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def put(stream: BinaryIO | Capped, target: PurePosixPath, done: Unpacked, limits: Limits) -> None:
    """Write a member's bytes below the folder. A member of a name that is taken by a folder (or under a file) is left out."""
    path = done.folder / target
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        size = 0
        with open(path, "wb") as file:
            while chunk := stream.read(CHUNK):
                size += len(chunk)
                done.bytes += len(chunk)
                if size > limits.each or done.bytes > limits.total:
                    break
                file.write(chunk)
    except (FileExistsError, NotADirectoryError, IsADirectoryError):
        done.leave(str(target), "a file and a folder of the same name")
        return
    if done.bytes > limits.total:
        raise too_much(f"it unpacks to more than {limits.total >> 20} MB")
    if size > limits.each:
        path.unlink()
        done.leave(str(target), f"larger than {limits.each >> 20} MB")
        return
    done.files += 1


def tar(stream: Capped, done: Unpacked, limits: Limits) -> None:
    """Write the plain files of a tar stream, read front to back."""
    stream.header = HEADER
    with tarfile.open(fileobj=stream, mode="r|", errors="surrogateescape") as archive:
        for count, member in enumerate(archive):
            stream.header = None
            if count >= limits.members:
                raise too_much(f"it has more than {limits.members} members")
            if not member.isreg():
                if not member.isdir():
                    done.leave(member.name, "not a plain file")
            elif member.size > limits.total:
                raise too_much(f"it says that one member has {member.size >> 20} MB")
            else:
                data = archive.extractfile(member)
                if target := place(member.name, done, limits):
                    put(data, target, done, limits)
                while data.read(CHUNK):
                    pass
            stream.header = HEADER


def central_directory(path: Path) -> int:
    """The size in bytes of a zip's list of members, which zipfile would read whole; 0 when there is none to be found."""
    with open(path, "rb") as file:
        file.seek(max(0, path.stat().st_size - (1 << 16) - 22))
        tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    return int.from_bytes(tail[at + 12:at + 16], "little") if at >= 0 else 0


def zipped(path: Path, done: Unpacked, limits: Limits) -> None:
    if central_directory(path) > limits.members * 200:
        raise too_much(f"it has more than {limits.members} members")
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if len(members) > limits.members:
            raise too_much(f"it has more than {limits.members} members")
        for member in members:
            if member.is_dir():
                continue
            if member.flag_bits & 1:
                done.leave(member.filename, "encrypted")
            elif (member.external_attr >> 16) & 0o170000 not in (0, 0o100000):
                done.leave(member.filename, "not a plain file")
            elif target := place(member.filename, done, limits):
                with archive.open(member) as stream:
                    put(Capped(stream, member.compress_size, limits), target, done, limits)


def folder(path: Path, done: Unpacked, limits: Limits) -> None:
    """Copy a folder's plain files; links are not followed."""
    for here, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__MACOSX")
        for name in sorted(names):
            source = Path(here, name)
            if source.is_symlink() or not source.is_file():
                done.leave(source.relative_to(path).as_posix(), "not a plain file")
            elif target := place(source.relative_to(path).as_posix(), done, limits):
                if done.files >= limits.members:
                    raise too_much(f"the folder holds more than {limits.members} files")
                with open(source, "rb") as stream:
                    put(stream, target, done, limits)


@contextmanager
def beside(target: Path) -> Iterator[Path]:
    """A folder to fill that takes the place of `target` when all went well, and is gone when not."""
    target.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part"))
    try:
        yield new
        os.chmod(new, 0o755)
        if target.exists():
            old = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part"))
            os.replace(target, old / "old")
            os.replace(new, target)
            shutil.rmtree(old, ignore_errors=True)
        else:
            os.replace(new, target)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise


def form(path: Path) -> str:
    """The form of a file or folder by its bytes: one of `forms`, or folder; a gzip is looked into: tar.gz, tex.gz, gz."""
    if path.is_dir():
        return "folder"
    with open(path, "rb") as file:
        head = file.read(forms.HEAD)
    told = forms.tell(head)
    if told != forms.GZIP:
        return told
    try:
        inner = forms.tell(zlib.decompressobj(wbits=31).decompress(head, forms.HEAD))
    except zlib.error:
        return forms.UNKNOWN
    return {forms.TAR: "tar.gz", forms.LATEX: "tex.gz", forms.TEXT: "tex.gz"}.get(inner, f"{inner}.gz")


def unpack(path: Path, target: Path, limits: Limits = Limits()) -> Unpacked:  # noqa: B008 (frozen)
    """Bring the source in `path` (archive, lone file or folder) into the folder `target`, whole or not at all.

    Raises Stop (exit 4) when it is no source, is damaged, or is more than the limits allow. A PDF or HTML page is
    no source: `form` tells them first.
    """
    told = form(path)
    with beside(target) as new:
        done = Unpacked(told, new)
        try:
            if told == "folder":
                folder(path, done, limits)
            elif told == forms.ZIP:
                zipped(path, done, limits)
            elif told == forms.TAR:
                with open(path, "rb") as stream:
                    tar(Capped(stream, path.stat().st_size, limits), done, limits)
            elif told == "tar.gz":
                with gzip.open(path) as stream:
                    tar(Capped(stream, path.stat().st_size, limits), done, limits)
            elif told == "tex.gz":
                with gzip.open(path) as stream:
                    put(Capped(stream, path.stat().st_size, limits), PurePosixPath("main.tex"), done, limits)
            elif told in (forms.LATEX, forms.TEXT):
                with open(path, "rb") as stream:
                    put(stream, PurePosixPath(path.name if path.suffix.lower() in (".tex", ".ltx") else "main.tex"), done, limits)
            else:
                raise cli.Stop(f"{path.name} is no LaTeX source but {told}", code=cli.UNUSABLE,
                               expected="tar.gz, tar, zip, a gzipped .tex, a .tex or a folder", fix="use --source pdf")
        except (tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError,
                ValueError, LookupError, OverflowError, struct.error, OSError) as problem:
            if isinstance(problem, OSError) and problem.errno not in (None, errno.EINVAL):
                raise  # the disk's fault, not the archive's; a damaged one makes zipfile seek to where nothing can be
            raise cli.Stop(f"{path.name} is a damaged archive ({problem})", code=cli.UNUSABLE,
                           expected="a whole archive", fix="fetch it again") from problem
        if not done.files:
            why = f" ({done.left_out[0]})" if done.left_out else ""
            raise cli.Stop(f"{path.name} holds no file that can be read{why}", code=cli.UNUSABLE,
                           expected="the LaTeX source of one paper", fix="use --source pdf, or another file")
        done.folder = target
    return done
