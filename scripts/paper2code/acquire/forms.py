"""What a file is, told by its bytes and not by its name. Standard library only."""

from __future__ import annotations

import re

PDF, GZIP, TAR, ZIP, HTML, LATEX, TEXT, EMPTY, UNKNOWN = "pdf", "gzip", "tar", "zip", "html", "latex", "text", "empty", "unknown"
HEAD = 64 * 1024  # so many bytes of the beginning are enough to tell

# Beginnings of what people hand over by mistake, for a message that says what it is.
OTHERS = {
    b"%!PS": "a PostScript file",
    b"{\\rtf": "an RTF file",
    b"\xd0\xcf\x11\xe0": "an old Word file",
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"\x1f\x9d": "a Unix compress archive",
    b"(\xb5/\xfd": "a Zstandard archive",
    b"\x7fELF": "a program",
    b"AT&TFORM": "a DjVu file",
    b"SQLite format 3": "a database",
}
TEX = re.compile(rb"^[^%\n]*\\(?:documentclass|documentstyle|begin\s*\{document\}|input\b|section\b|magnification\b|usepackage\b"
                 rb"|chapter\b|bye\b|def\\|title\b)|%auto-ignore", re.M)
MARKUP = re.compile(rb"<!doctype\s+html|<html[\s>]", re.I)


def tell(head: bytes) -> str:
    """The form of a file that begins with `head` (give at least `HEAD` bytes of it, or all)."""
    if not head.strip(b"\0 \t\r\n"):
        return EMPTY
    if b"%PDF-" in head[:1024]:
        return PDF
    if head.startswith(b"\x1f\x8b"):
        return GZIP
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return ZIP
    if head[257:262] == b"ustar" or old_tar(head):
        return TAR
    if name_other(head):
        return UNKNOWN
    text = decoded_head(head)
    if text is None:
        return UNKNOWN
    if MARKUP.search(text[:4096]):
        return HTML
    return LATEX if TEX.search(text) else TEXT


def old_tar(head: bytes) -> bool:
    """A tar header from before ustar: no magic, but its checksum holds."""
    try:
        stated = int(head[148:156].strip(b"\0 "), 8)
    except ValueError:
        return False
    return len(head) >= 512 and stated == sum(head[:148]) + 8 * 32 + sum(head[156:512])


def name_other(head: bytes) -> str | None:
    """What a file of no use here is, in words; None when its beginning says nothing."""
    return next((words for start, words in OTHERS.items() if head.startswith(start)), None)


def decoded_head(head: bytes) -> bytes | None:
    """The head as single-byte text, whatever its encoding; None when it is no text at all."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head.decode("utf-16", "replace").encode("utf-8")
    if b"\0" in head:
        return None
    control = sum(head.count(bytes([c])) for c in range(32) if c not in (9, 10, 12, 13, 27))
    if control > len(head) / 200:
        return None
    try:
        head[:-4].decode("utf-8")  # the last character may be cut
    except UnicodeDecodeError:
        high = sum(byte >= 0x80 for byte in head)
        if high > len(head) * 0.3:
            return None
    return head
