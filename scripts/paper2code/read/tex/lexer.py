"""Characters of a TeX file to tokens, as TeX's own eyes do it, but with runs of plain characters as one token.

A token is a string:

- `\\name` a control sequence (`\\\\`, `\\%` too), `\\x01name` after the backslash for what a `\\let` kept of a built-in;
- one of `{ } $ & # ^ _ ~`, a single space, or `\\par` for an empty line;
- any other run of characters: a word;
- a string that starts with NUL: characters taken as they are (`\\verb`, a URL with `%`).

Comments never become tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

PIECE = re.compile(
    r"(?P<word>[^\\%{}$&#^_~ \t\n\0]+)"
    r"|(?P<space>[ \t\n]+)"
    r"|(?P<char>[{}$&#^_~])"
    r"|\\(?P<name>[A-Za-z]+)(?P<gap>[ \t]*(?:\n[ \t]*)?)"
    r"|(?P<comment>%[^\n]*(?:\n[ \t]*)?)"
    r"|\\(?P<symbol>[^A-Za-z])"
    r"|(?P<stray>[\\\0])"
)
PIECE_AT = re.compile(PIECE.pattern.replace("[A-Za-z]+", "[A-Za-z@]+").replace("[^A-Za-z]", "[^A-Za-z@]"))
RAW = frozenset(("verb", "lstinline", "mintinline", "url", "path", "href", "nolinkurl", "Verb"))
VERBATIM = re.compile(r"\*?(?:\[[^\]\n]*\])?[ "
                      r"]?(?:(?P<delim>[^A-Za-z0-9*\s{])(?P<text>[^\n]*?)(?P=delim)|\{(?P<braced>(?:[^{}\n]|\{[^{}\n]*\})*)\})")
LANGUAGE = re.compile(r"(?:\[[^\]\n]*\])?\{[^{}\n]*\}")
BLANK = re.compile(r"[ \t\n]*")


class Lexer:
    """Tokens of one file, one at a time. `name` is for messages; `at` makes `@` a letter, as in styles."""

    def __init__(self, text: str, name: str, *, at: bool = False, base: str = ""):
        self.text, self.name, self.base = text, name, base
        self.pos = 0
        self.match = (PIECE_AT if at else PIECE).match
        self.queue: list[str] = []

    def letters(self, at: bool) -> None:
        self.match = (PIECE_AT if at else PIECE).match

    def line(self) -> int:
        return self.text.count("\n", 0, self.pos) + 1

    def next(self) -> str | None:
        if self.queue:
            return self.queue.pop()
        text = self.text
        while True:
            found = self.match(text, self.pos)
            if found is None:
                return None
            kind = found.lastgroup
            self.pos = found.end()
            if kind == "word" or kind == "char":
                return found.group()
            if kind == "space":
                return "\\par" if found.group().count("\n") > 1 else " "
            if kind == "gap":
                name, gap = found["name"], found["gap"]
                if name in RAW and self.raw(name, found.end("name")):
                    return self.queue.pop()
                if "\n" in gap and text.startswith("\n", self.pos):
                    self.pos = BLANK.match(text, self.pos).end()
                    self.queue.append("\\par")
                return "\\" + name
            if kind == "symbol":
                symbol = found["symbol"]
                return "\\ " if symbol in "\n\t" else "\\" + symbol
            if kind == "comment":
                if text.startswith("\n", self.pos):
                    self.pos = BLANK.match(text, self.pos).end()
                    return "\\par"
            # a lone backslash at the end, or a NUL: nothing

    def raw(self, name: str, pos: int) -> bool:
        """Queue what a verbatim command holds, when it is there to be read; leave everything as it is otherwise."""
        text = self.text
        if name in ("verb", "Verb", "lstinline", "mintinline"):
            if name == "mintinline" and (language := LANGUAGE.match(text, pos)):
                pos = language.end()
            if not (found := VERBATIM.match(text, pos)):
                return False
            if name == "verb" and found["delim"] is None:
                return False
            self.pos = found.end()
            held = found["text"] if found["delim"] else found["braced"]
            self.queue += ["\0" + held]
            return True
        if not text.startswith("{", pos):
            return False
        end = closing(text, pos)
        if end < 0 or not re.search(r"(?<!\\)%", text[pos:end]):
            return False
        self.pos = end + 1
        self.queue += ["}", "\0" + re.sub(r"\\([%#&_~{}])|%\n[ \t]*", lambda m: m[1] or "", text[pos + 1:end]), "{", "\\" + name]
        return True

    def until(self, stop: str) -> str | None:
        """The characters up to `stop`, which is passed too; None when it never comes."""
        end = self.text.find(stop, self.pos)
        if end < 0:
            return None
        held, self.pos = self.text[self.pos:end], end + len(stop)
        self.queue.clear()
        return held


def closing(text: str, pos: int, limit: int = 4000) -> int:
    """Where the brace at `pos` closes, or -1. A `%` counts as a character."""
    depth = 0
    for at in range(pos, min(len(text), pos + limit)):
        char = text[at]
        if char == "{":
            depth += text[at - 1] != "\\"
        elif char == "}" and text[at - 1] != "\\":
            depth -= 1
            if not depth:
                return at
    return -1


def lex(text: str, *, at: bool = False) -> list[str]:
    lexer, out = Lexer(text, "", at=at), []
    while (token := lexer.next()) is not None:
        out.append(token)
    return out


def written(tokens: Iterable[str]) -> str:
    """Tokens as LaTeX again: a space where a control word would run into a letter."""
    out: list[str] = []
    word = False  # the last token was a control word
    for token in tokens:
        first = token[0]
        if first == "\\":
            if token[1:2] == "\x01":
                token = "\\" + token[2:]
            out.append(token)
            word = token[-1].isalpha()
            continue
        if first == "\0":
            token = token[1:]
        if word and token[:1].isalnum():
            out.append(" ")
        word = False
        out.append(token)
    return "".join(out)
