"""The form of flags and the words of comments: three parts for [UNSPECIFIED], reasons, permalinks, misspelt tags; phrases that stand where
a citation belongs."""

from __future__ import annotations

import difflib
import re

from paper2code.check.repository import CITES, FLAG, TAGS, Module, parts
from paper2code.findings import Finding

FORBIDDEN = re.compile(
    r"\b(standard practice|standard choice|as usual|as is (?:usual|common|customary)|obviously|of course|typically|"
    r"it(?:'|’)?s well[- ]known|(?:it )?is well[- ]known|well[- ]known that|for simplicity|"
    r"should work|should be fine|common(?:ly)? (?:practice|used)|"
    r"commonly|conventionally|"
    r"best practice|sensible default|reasonable default|rule of thumb|everyone uses|"
    r"most (?:people|implementations|common in)|by convention|"
    r"usual(?:ly)?|trivially|clearly|as expected|good enough|widely used|customary)\b",
    re.I,
)


# A line of a repository at a commit, as the code hosts write it.
PERMALINK = re.compile(
    r"https?://[^\s/]+/[^\s]+?/(?:blob|raw|tree|src/commit|src|-/blob)/(?P<commit>[0-9a-f]{40})/(?P<file>[^\s#]+)"
    r"#(?:L|lines-)(?P<first>\d+)(?:(?:-L?|:)(?P<last>\d+))?"
)


def close_tag(word: str) -> str | None:
    near = difflib.get_close_matches(word.upper().replace(" ", "_").replace("-", "_"), TAGS, n=1, cutoff=0.75)
    return near[0] if near else None


def flag_form(text: str, file: str, line: int, *, needs_quote: bool = True) -> list[Finding]:
    """The form of the flags in one comment: three parts for [UNSPECIFIED], a reason for [ASSUMPTION], a permalink for
    [FROM_OFFICIAL_CODE], words and choice for [PARTIALLY_SPECIFIED]; misspelt tags."""
    out: list[Finding] = []

    def add(check: str, message: str, **more) -> None:
        out.append(Finding(check, message, file, line, **more))

    for found in re.finditer(r"\[([A-Za-z][A-Za-z_ -]{6,24})\]", text):
        word = found.group(1)
        if word not in TAGS and (near := close_tag(word)):
            add("flag-unknown", f"[{word}] is no tag", expected=f"[{near}]", fix=f"write [{near}]")
    for part in parts(text):
        tags = FLAG.findall(part)
        body = FLAG.sub("", part)
        if not tags:
            continue
        if "UNSPECIFIED" in tags:
            using = re.search(r"\bUsing:\s*(.*?)(?=\bAlternatives?:|\Z)", part, re.S)
            others = re.search(r"\bAlternatives?:\s*(.*)", part, re.S)
            said = re.split(r"\bUsing:", body)[0].strip(" .:;—–-\n")
            if not said:
                add(
                    "flag-form",
                    "[UNSPECIFIED] does not say what the paper leaves out",
                    expected="# [UNSPECIFIED] what is not stated",
                )
            if not using or not using.group(1).strip(" .:;—–-\n"):
                add("flag-form", "[UNSPECIFIED] without Using:", expected="# Using: the choice made here")
            if not others or not re.sub(r"[\s.:;—–-]|none|n/a", "", others.group(1), flags=re.I):
                add(
                    "flag-form",
                    "[UNSPECIFIED] with Alternatives: none" if others else "[UNSPECIFIED] without Alternatives:",
                    expected="# Alternatives: what else might be meant",
                    fix="what nothing else could be is no open choice: cite it, or call it an [ASSUMPTION]" if others else None,
                )
        if "PARTIALLY_SPECIFIED" in tags:
            if needs_quote and not re.search(r"[\"“”][^\"“”]{3,}[\"“”]", part):
                add(
                    "flag-form",
                    "[PARTIALLY_SPECIFIED] without the words that the paper has",
                    expected='# [PARTIALLY_SPECIFIED] §5 — "…"',
                )
            if len(re.sub(r"[\"“][^\"”]*[\"”]", "", body).split()) < 4:
                add(
                    "flag-form",
                    "[PARTIALLY_SPECIFIED] does not say what is open and what is done",
                    expected="what is unclear, and Using: …",
                )
        if "ASSUMPTION" in tags and len(body.split()) < 5:
            add("flag-form", "[ASSUMPTION] without its reason", expected="# [ASSUMPTION] what is assumed, because …")
        if "FROM_OFFICIAL_CODE" in tags:
            link = re.search(r"\bSource:\s*(\S+)|(https?://\S+)", part)
            url = (link.group(1) or link.group(2)) if link else ""
            if not PERMALINK.match(url):
                add(
                    "flag-form",
                    "[FROM_OFFICIAL_CODE] without a permalink",
                    expected="# Source: https://…/blob/<40-digit commit>/file.py#L42",
                    fix="a branch moves: name the commit and the line",
                )
    return out


def flags(module: Module) -> list[Finding]:
    out = []
    for mark in module.marks:
        if "[" in mark.text:
            out += flag_form(mark.text, module.file, mark.first)
    return out


QUOTED = re.compile(r"[\"“][^\"“”]*[\"”]", re.S)


def phrases(text: str, file: str, line: int) -> list[Finding]:
    """Forbidden phrases in one comment or paragraph; the paper's own words in quotes are free, so is a sentence that cites."""
    out = []
    # A quote that ends its line ends the sentence that it carries.
    plain = QUOTED.sub(" ", re.sub(r"[\"\u201d](?=[.;,]?[ \t]*\n)", '"\n\n', text))
    for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z#])|\n\s*\n", plain):
        found = FORBIDDEN.search(sentence)
        # The citation stands on the phrase's own line or after it; one on a line before belongs to what that line says.
        after = sentence[sentence.rfind("\n", 0, found.start()) + 1 :] if found else ""
        if found and not CITES.search(after) and not re.search(r"https?://|\barXiv|\(\w[\w .&]+,? (19|20)\d\d\)|\[\d+\]", after):
            before = text[: text.find(found.group(0))].count("\n") if found.group(0) in text else 0
            out.append(
                Finding(
                    "phrase-forbidden",
                    f"{found.group(0)!r} stands where a citation belongs",
                    file,
                    line + before,
                    expected="the place that says so, or [UNSPECIFIED] with the choice and its alternatives",
                    fix="say whose choice it is",
                )
            )
    return out
