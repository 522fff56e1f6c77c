"""Files that are written whole or not at all, names that are safe on every file system, hashes. Standard library only."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import tempfile
import unicodedata
from pathlib import Path

# Names that Windows keeps for devices: a folder may not be called so, whatever its ending.
RESERVED = {"con", "prn", "aux", "nul", *(f"com{n}" for n in range(1, 10)), *(f"lpt{n}" for n in range(1, 10))}


def write(path: str | os.PathLike, content: str | bytes) -> Path:
    """Write `content` to `path` by way of a file beside it, so that a reader sees the old or the new, never a part.

    Makes the folder if it is missing. Text is UTF-8 with `\\n`. Raises OSError, and then leaves nothing behind.
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, 0o666 & ~umask())
        os.replace(beside, path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
    return path


def umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def write_json(path: str | os.PathLike, data: object) -> Path:
    return write(path, json.dumps(data, ensure_ascii=False, indent=1) + "\n")


def read_json(path: str | os.PathLike) -> object:
    return json.loads(Path(path).read_text(encoding="utf-8"))


def sha256(data: bytes | str | os.PathLike) -> str:
    """Hex SHA-256 of bytes, or of the file at a path."""
    if isinstance(data, bytes):
        return hashlib.sha256(data).hexdigest()
    digest = hashlib.sha256()
    with open(data, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def slug(title: str, *, limit: int = 60, otherwise: str = "paper") -> str:
    """A title as a folder name: lower case, underscores, ASCII, cut at a word; `otherwise` when nothing is left.

    Safe as a Python package name too: starts with a letter.
    """
    plain = unicodedata.normalize("NFKD", re.sub(r"\\[A-Za-z]+|[${}\\]", " ", title))
    plain = "".join(c for c in plain if not unicodedata.combining(c)).encode("ascii", "ignore").decode("ascii")
    words = re.findall(r"[a-z0-9]+", plain.lower().replace("'", ""))
    out = ""
    for word in words:
        longer = f"{out}_{word}" if out else word
        if len(longer) > limit:
            break
        out = longer
    out = out or (words[0][:limit] if words else otherwise)
    if out in RESERVED or not out[0].isalpha():
        out = f"paper_{out}"
    return out
