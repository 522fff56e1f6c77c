"""The files of a LaTeX source: which is the main one, what an `\\input` means, and in which encoding they are.

Nothing outside the source folder is ever read, whatever a file asks for, and no TeX is run.
"""

from __future__ import annotations

import codecs
import os
import re
from pathlib import Path

MOST_BYTES = 30_000_000  # of one file
MOST_FILES = 20_000
TEX = (".tex", ".ltx", ".latex", ".TEX", ".tex.txt")
CLASS = re.compile(r"^[^%\n]*?\\document(?:class|style)\s*(?:\[[^\]]*\])?\s*\{([^}]*)\}", re.M)
BODY = re.compile(r"^[^%\n]*?\\begin\s*\{document\}", re.M)
INPUT = re.compile(r"^[^%\n]*?\\(?:input|include|subfile|subfileinclude|import|subimport)\b\s*\{?([^}\s]+)", re.M)
SUPPLEMENT = re.compile(r"supp|append|rebuttal|response|cover.?letter|poster|slides|review|template|example|sample|old|backup|"
                        r"draft"
                        r"|standalone|figure|tikz|letter", re.I)
LIKELY = re.compile(r"^(main|paper|ms|article|manuscript|root|arxiv|final|camera.?ready|submission|preprint)", re.I)
# The bytes 0x80-0x9f that Mac OS Roman uses for letters, which latin-1 leaves to control characters.
DECLARED = re.compile(rb"\\usepackage\s*\[([A-Za-z0-9-]+)\]\s*\{inputenc\}")
CODECS = {"latin1": "cp1252", "ansinew": "cp1252", "cp1252": "cp1252", "latin9": "iso8859-15", "latin2": "iso8859-2",
          "applemac": "mac-roman", "macce": "mac-latin2", "utf8": "utf-8", "utf8x": "utf-8", "cp1250": "cp1250",
          "cp1251": "cp1251", "koi8-r": "koi8-r", "cp437": "cp437", "cp850": "cp850", "latin5": "iso8859-9", "ascii": "cp1252"}


def decode(data: bytes, declared: str | None = None) -> tuple[str, str]:
    """The text of a file and the encoding it was read in. Lines end in `\\n`, control characters are gone."""
    name = "utf-8"
    if data.startswith(codecs.BOM_UTF8):
        text = data[3:].decode("utf-8", "replace")
    elif data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        name = "utf-16"
        text = data.decode("utf-16", "replace")
    else:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            own = DECLARED.search(data)
            name = CODECS.get(own[1].decode("ascii").lower() if own else declared or "", "") or ""
            if name in ("", "utf-8"):
                name = guess(data)
            if name == "mixed":
                text = mixed(data)
            else:
                text = data.decode(name, "replace")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return re.sub(r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f]", " ", text).replace("\x0b", " "), name


def guess(data: bytes) -> str:
    """The encoding of bytes that are not UTF-8 and do not say what they are."""
    high = re.findall(rb"[\x80-\xff]+", data)
    whole = sum(len(run) for run in high)
    good = 0
    for run in high:
        try:
            run.decode("utf-8")
            good += len(run)
        except UnicodeDecodeError:
            pass
    if good > whole / 2:
        return "mixed"
    # In latin-1 the letters are at 0xc0-0xff; in Mac Roman most accented ones are at 0x80-0x9f.
    low = sum(1 for run in high for byte in run if 0x80 <= byte <= 0x9F and byte not in (0x91, 0x92, 0x93, 0x94, 0x96, 0x97,
        0x85))
    return "mac-roman" if low and low >= whole / 2 else "cp1252"


def mixed(data: bytes) -> str:
    """UTF-8 with stretches of latin-1 between."""
    out, at = [], 0
    while at < len(data):
        try:
            out.append(data[at:].decode("utf-8"))
            break
        except UnicodeDecodeError as problem:
            out.append(data[at:at + problem.start].decode("utf-8"))
            bad = data[at + problem.start:at + problem.end]
            out.append(bad.decode("cp1252", "replace"))
            at += problem.end
    return "".join(out)


class Source:
    """A folder with LaTeX in it (or one file). `texts` are decoded once, names are relative with `/`."""

    def __init__(self, root: Path):
        root = Path(root)
        self.only = root if root.is_file() else None
        self.root = (root.parent if self.only else root).resolve()
        self.declared: str | None = None
        self.texts: dict[str, str] = {}
        self.encodings: dict[str, str] = {}
        self.problems: list[tuple[str, str, str | None]] = []
        self.names = [self.only.name] if self.only else self.listed()
        self.lower = {name.lower(): name for name in reversed(self.names)}

    def listed(self) -> list[str]:
        """Files of the source by name, those of other systems' bookkeeping left out."""
        out: list[str] = []
        for folder, folders, files in os.walk(self.root):
            folders[:] = sorted(f for f in folders if f not in ("__MACOSX", ".git", ".svn"))
            for name in sorted(files):
                if name.startswith("._") or name == ".DS_Store":
                    continue
                out.append(os.path.relpath(os.path.join(folder, name), self.root).replace(os.sep, "/"))
                if len(out) >= MOST_FILES:
                    self.problems.append(("too-many-files", f"only the first {MOST_FILES} files are looked at", None))
                    return out
        return out

    def find(self, name: str, endings: tuple[str, ...] = (".tex", ""), base: str = "") -> str | None:
        """The file an `\\input{name}` means, looked for in the folder `base` and in the root; None when it is not there."""
        name = name.strip().strip('"').replace("\\", "/").replace("//", "/")
        if not name or name.startswith(("|", "/", "~")) or re.match(r"[A-Za-z]:", name):
            return None
        known = set(self.names) if len(self.names) < 50 else self.known()
        for folder in dict.fromkeys((base, "")):
            path = os.path.normpath(os.path.join(folder, name)).replace(os.sep, "/")
            if path.startswith(".."):
                continue
            for ending in endings:
                if path + ending in known:
                    return path + ending
            for ending in endings:
                if (path + ending).lower() in self.lower:
                    return self.lower[(path + ending).lower()]
        return None

    def known(self) -> set[str]:
        if not hasattr(self, "_known"):
            self._known = set(self.names)
        return self._known

    def text(self, name: str) -> str:
        """The text of a file of the source, "" when it cannot be read."""
        if name in self.texts:
            return self.texts[name]
        path = self.root / name
        text, encoding = "", "utf-8"
        try:
            real = path.resolve()
            if not real.is_relative_to(self.root):
                self.problems.append(("outside", f"{name} leads out of the source; it is not read", name))
            elif not real.is_file():
                self.problems.append(("not-a-file", f"{name} is not a file; it is not read", name))
            elif real.stat().st_size > MOST_BYTES:
                self.problems.append(("too-big", f"{name} is over {MOST_BYTES // 1_000_000} MB; it is not read", name))
            else:
                text, encoding = decode(real.read_bytes(), self.declared)
        except OSError as problem:
            self.problems.append(("unreadable", f"{name} cannot be read: {problem.strerror}", name))
        if encoding not in ("utf-8",):
            self.problems.append(("encoding", f"{name} is not UTF-8; read as {encoding}", name))
        self.texts[name], self.encodings[name] = text, encoding
        return text

    def tex_files(self) -> list[str]:
        return [name for name in self.names if name.endswith(TEX) or re.search(r"\.tex\.v?\d+$", name)]

    def main(self) -> tuple[str | None, list[str]]:
        """The file that makes the paper, and the others that could have been it."""
        if self.only:
            return self.only.name, []
        told = self.directives()
        files = self.tex_files() or [name for name in self.names if self.looks_like_tex(name)]
        texts = {name: self.text(name) for name in files}
        heads = [name for name in files if CLASS.search(texts[name])]
        whole = [name for name in heads if BODY.search(texts[name])]
        candidates = whole or heads or [name for name in files if BODY.search(texts[name])]
        if not candidates:
            plain = [n for n in files if re.search(r"\\(section|title|begin\{|bye\b|input\s*amstex|magnification)", texts[n])]
            candidates = plain or files
        for name in told:
            if name in candidates:
                return name, [other for other in candidates if other != name]
        used: set[str] = set()
        for name in files:
            for wanted in INPUT.findall(texts[name]):
                found = self.find(wanted, base=os.path.dirname(name))
                if found and found != name:
                    used.add(found)
        ranked = sorted(candidates, key=lambda name: self.rank(name, texts, used), reverse=True)
        return (ranked[0] if ranked else None), ranked[1:]

    def rank(self, name: str, texts: dict[str, str], used: set[str]) -> tuple:
        """How much a file looks like the main one; greater is likelier."""
        text = texts[name]
        found = CLASS.search(text)
        kind = found[1].strip() if found else ""
        folder, base = os.path.split(name)
        stem = re.sub(r"\..*$", "", base)
        return (
            kind not in ("standalone", "beamer", "letter", "subfiles", "minimal", "tikzposter"),
            not (name in used and kind == "subfiles"),
            bool(re.search(r"\\(title|maketitle|begin\{abstract\}|abstract\{|icmltitle|section)", self.flat(name, texts))),
            name not in used,
            not SUPPLEMENT.search(stem),
            not folder,
            self.find(stem + ".bbl", ("",), folder) is not None,
            bool(LIKELY.match(stem)),
            self.weight(name, texts, set()),
            -len(name),
        )

    def flat(self, name: str, texts: dict[str, str]) -> str:
        """The file and what it takes in directly."""
        parts = [texts[name]]
        for wanted in INPUT.findall(texts[name])[:40]:
            found = self.find(wanted, base=os.path.dirname(name))
            if found in texts and found != name:
                parts.append(texts[found])
        return "\n".join(parts)

    def weight(self, name: str, texts: dict[str, str], seen: set[str]) -> int:
        """Characters of a file with all it takes in."""
        if name in seen or len(seen) > 200:
            return 0
        seen.add(name)
        total = len(texts.get(name, ""))
        for wanted in INPUT.findall(texts.get(name, "")):
            found = self.find(wanted, base=os.path.dirname(name))
            if found:
                total += self.weight(found, texts, seen)
        return total

    def looks_like_tex(self, name: str) -> bool:
        """For sources whose main file has another ending, or none."""
        if re.search(r"\.(sty|cls|bib|bbl|bst|pdf|png|jpe?g|eps|ps|zip|gz|clo|def|fd|aux|log|out|txt|md|py|json|csv)$", name,
                     re.I):
            return False
        path = self.root / name
        try:
            if not path.resolve().is_relative_to(self.root) or not path.is_file() or path.stat().st_size > MOST_BYTES:
                return False
            with open(path, "rb") as file:
                head = file.read(20_000)
        except OSError:
            return False
        return b"\\document" in head or b"\\begin{" in head or b"\\section" in head

    def directives(self) -> list[str]:
        """What arXiv's `00README` names as the top-level file."""
        out: list[str] = []
        for name in self.names:
            base = os.path.basename(name).lower()
            if not base.startswith("00readme"):
                continue
            text = self.text(name)
            if base.endswith(".json"):
                out += re.findall(r'"filename"\s*:\s*"([^"]+)"[^{}]*"usage"\s*:\s*"toplevel"', text)
                out += re.findall(r'"usage"\s*:\s*"toplevel"[^{}]*"filename"\s*:\s*"([^"]+)"', text)
            else:
                out += re.findall(r"^\s*(\S+)\s+toplevelfile", text, re.M)
                out += re.findall(r"filename:\s*(\S+)\s*\n\s*usage:\s*toplevel", text)
        return out
