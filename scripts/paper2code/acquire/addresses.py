"""The hosts that are asked, and nothing else is. Standard library only.

Each can be pointed elsewhere by an environment variable, `PAPER2CODE_ARXIV_URL` and so on, which is how the tests run.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from paper2code import cli

HOSTS = {
    "arxiv": ("https://arxiv.org", "the papers"),
    "export": ("https://export.arxiv.org", "the metadata"),
    "ar5iv": ("https://ar5iv.labs.arxiv.org", "HTML of older papers"),
    "hf": ("https://huggingface.co", "code links"),
    "github": ("https://github.com", "authors' code"),
}
POLITE = ("arxiv", "export", "ar5iv")  # arXiv's own: one request in three seconds


def address(name: str) -> str:
    """The address of a host of `HOSTS`, without a slash at its end. Raises Stop (exit 2) when the variable holds none."""
    variable = f"PAPER2CODE_{name.upper()}_URL"
    url = os.environ.get(variable) or HOSTS[name][0]
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise cli.Stop(f"{variable}={url!r} is not an address", code=cli.USAGE, expected="http(s)://host[:port]", fix=f"unset {variable}")
    return url.rstrip("/")


def origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port, by which two addresses are the same place or not."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)


@dataclass(frozen=True)
class Addresses:
    """Where papers are asked for."""

    arxiv: str
    export: str
    ar5iv: str
    hf: str

    @classmethod
    def given(cls) -> Addresses:
        return cls(*(address(name) for name in cls.__dataclass_fields__))

    def origins(self) -> frozenset[tuple]:
        return frozenset(origin(url) for url in (self.arxiv, self.export, self.ar5iv, self.hf))
