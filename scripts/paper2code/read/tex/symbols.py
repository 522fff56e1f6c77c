"""What text commands print: accents, letters, marks."""

from __future__ import annotations

import re
import unicodedata

ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307",
           "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328", "r": "\u030a", "b": "\u0331",
           "d": "\u0323", "t": "\u0361", "textcommabelow": "\u0326", "newtie": "\u0361", "textogonekcentered": "\u0328"}

TEXT = {"ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "aa": "å", "AA": "Å",
        "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ", "dj": "đ", "DJ": "Đ", "ng": "ŋ", "NG": "Ŋ", "SS": "SS",
        "textendash": "–", "textemdash": "—", "textellipsis": "…", "ldots": "…", "dots": "…", "textbullet": "•",
        "textperiodcentered": "·", "textquoteleft": "‘", "textquoteright": "’", "textquotedblleft": "“",
        "textquotedblright": "”", "textquotesingle": "'", "textquotedbl": '"', "quotedblbase": "„", "quotesinglbase": "‚",
        "guillemotleft": "«", "guillemotright": "»", "flqq": "«", "frqq": "»", "glqq": "„", "grqq": "“", "guilsinglleft": "‹",
        "guilsinglright": "›", "lq": "‘", "rq": "’", "textbackslash": "\\", "backslash": "\\", "textasciitilde": "~",
        "textasciicircum": "^", "textunderscore": "_", "textbar": "|", "textless": "<", "textgreater": ">",
        "textbraceleft": "{", "textbraceright": "}", "lbrace": "{", "rbrace": "}", "textdollar": "$", "dag": "†", "ddag": "‡",
        "dagger": "†", "ddagger": "‡", "textdagger": "†", "textdaggerdbl": "‡", "S": "§", "P": "¶", "textsection": "§",
        "textparagraph": "¶", "copyright": "©", "textcopyright": "©", "textregistered": "®", "texttrademark": "™",
        "pounds": "£", "textsterling": "£", "euro": "€", "texteuro": "€", "EUR": "€", "textyen": "¥", "textcent": "¢",
        "textdegree": "°", "degree": "°", "celsius": "°C", "textmu": "µ", "textohm": "Ω", "textpm": "±", "texttimes": "×",
        "textdiv": "÷", "textonehalf": "½", "textonequarter": "¼", "textthreequarters": "¾", "textsuperscripttwo": "²",
        "textordmasculine": "º", "textordfeminine": "ª", "textexclamdown": "¡", "textquestiondown": "¿", "textleftarrow": "←",
        "textrightarrow": "→", "textuparrow": "↑", "textdownarrow": "↓", "textvisiblespace": "␣", "LaTeX": "LaTeX",
        "TeX": "TeX", "LaTeXe": "LaTeX2e", "BibTeX": "BibTeX", "XeTeX": "XeTeX", "slash": "/", "textasteriskcentered": "*",
        "textnumero": "№", "checkmark": "✓", "faCheck": "✓", "faTimes": "✗", "Checkmark": "✓", "CheckmarkBold": "✔",
        "XSolidBrush": "✗", "XSolid": "✗", "XSolidBold": "✗", "Cross": "✗", "CrossMark": "✗", "Letter": "✉", "Envelope": "✉",
        "quad": " ", "qquad": " ", "enspace": " ", "thinspace": " ", "enskip": " ", "space": " ", "nobreakspace": " ",
        "hfill": " ", "hfil": " ", "dotfill": " ", "hrulefill": " ", "linebreak": " ", "newline": " ", "break": " ",
        "textperthousand": "‰", "texttildelow": "~", "tild": "~", "hyp": "-", "textminus": "−", "star": "★", "bigstar": "★",
        "bullet": "•", "BooleanTrue": "", "BooleanFalse": "", "NoValue": "", "IeC": "", "textalpha": "α", "textbeta": "β"}

SYMBOLS = {"%": "%", "&": "&", "#": "#", "_": "_", "$": "$", "{": "{", "}": "}", " ": " ", ",": " ", ";": " ", ":": " ",
           "!": "", "/": "", "-": "", "@": "", "+": "", "|": "‖", "\n": " ", "*": "", "<": "", ">": "", "(": "", ")": ""}

# \\ding{…} of pifont: single signs, then the four rows of digits in circles.
DINGS = {51: "✓", 52: "✔", 53: "✕", 54: "✖", 55: "✗", 56: "✘", 72: "★", 73: "☆", 108: "●", 109: "❍", 110: "■", 115: "▲",
         118: "❖", 212: "➔", 213: "→", 217: "➙", 220: "➜", 222: "➞", 228: "➤"}
for start, first in ((172, 0x2460), (182, 0x2776), (192, 0x2780), (202, 0x278A)):
    DINGS.update((start + n, chr(first + n)) for n in range(10))

LIGATURES = (("---", "—"), ("--", "–"), ("``", "“"), ("''", "”"), ("`", "‘"), ("'", "’"), (",,", "„"), ("?‘", "¿"), ("!‘", "¡"))
NEEDS_LIGATURES = re.compile(r"--|[`']|,,")


def accent(mark: str, base: str) -> str:
    """`base` with an accent on its first letter; a dotless i or j gets what looks the same."""
    base = base.strip() or " "
    first = {"ı": "i", "ȷ": "j"}.get(base[0], base[0])
    if not first.strip():
        return {"^": "^", "~": "~", "'": "´", "`": "`", '"': "¨", "c": "¸"}.get(mark, "") + base[1:]
    return unicodedata.normalize("NFC", first + ACCENTS[mark]) + base[1:]


def ligatures(text: str) -> str:
    """Dashes and quotes as TeX sets them."""
    if NEEDS_LIGATURES.search(text):
        for plain, printed in LIGATURES:
            text = text.replace(plain, printed)
    return text
