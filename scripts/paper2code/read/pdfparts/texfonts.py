"""What the codes of TeX's mathematics fonts mean, for PDFs that do not say it themselves (no ToUnicode map).

Encodings OML (CMMI), OMS (CMSY) and OMX (CMEX) as in "The TeXbook", appendix F; the BaKoMa fonts (Cmmi10, Cmsy10 …) repeat
codes 0 to 32 at 161 to 195.
"""

from __future__ import annotations

import re
from functools import lru_cache

OML = dict(enumerate("ΓΔΘΛΞΠΣΥΦΨΩαβγδϵζηθικλμνξπρστυϕχψωεϑϖϱςφ"))
OML |= {58: ".", 59: ",", 60: "<", 61: "/", 62: ">", 63: "⋆", 64: "∂", 96: "ℓ", 123: "ı", 124: "ȷ", 125: "℘"}
OML |= {code: chr(code) for code in (*range(48, 58), *range(65, 91), *range(97, 123))}
OMS = dict(enumerate("−·×∗÷⋄±∓⊕⊖⊗⊘⊙○◦•≍≡⊆⊇≤≥⪯⪰∼≈⊂⊃≪≫≺≻←→↑↓↔↗↘≃⇐⇒⇑⇓⇔↖↙∝′∞∈∋△▽\u0338↦∀∃¬∅ℜℑ⊤⊥ℵ"))
OMS |= {code: chr(code) for code in range(65, 91)}
OMS |= dict(enumerate("∪∩⊎∧∨⊢⊣⌊⌋⌈⌉{}⟨⟩|‖↕⇕\\≀√⨿∇∫⊔⊓⊑⊒§†‡¶", 91))
OMX = {0: "(", 1: ")", 2: "[", 3: "]", 4: "⌊", 5: "⌋", 6: "⌈", 7: "⌉", 8: "{", 9: "}", 10: "⟨", 11: "⟩", 12: "|", 13: "‖", 14: "/",
       15: "\\", 16: "(", 17: ")", 18: "(", 19: ")", 20: "[", 21: "]", 22: "⌊", 23: "⌋", 24: "⌈", 25: "⌉", 26: "{", 27: "}", 28: "⟨", 29: "⟩",
       30: "/", 31: "\\", 32: "(", 33: ")", 34: "[", 35: "]", 36: "⌊", 37: "⌋", 38: "⌈", 39: "⌉", 40: "{", 41: "}", 42: "⟨", 43: "⟩",
       44: "/", 45: "\\", 46: "/", 47: "\\", 48: "⎛", 49: "⎞", 50: "⎡", 51: "⎤", 52: "⎣", 53: "⎦", 54: "⎢", 55: "⎥", 56: "⎧", 57: "⎫",
       58: "⎩", 59: "⎭", 60: "⎨", 61: "⎬", 62: "⎪", 64: "⎝", 65: "⎠", 66: "⎜", 67: "⎟", 70: "⊔", 71: "⊔", 72: "∮", 73: "∮", 74: "⊙",
       75: "⊙",
       76: "⊕", 77: "⊕", 78: "⊗", 79: "⊗", 80: "∑", 81: "∏", 82: "∫", 83: "⋃", 84: "⋂", 85: "⊎",
       86: "⋀", 87: "⋁", 88: "∑",
       89: "∏",
       90: "∫", 91: "⋃", 92: "⋂", 93: "⊎", 94: "⋀", 95: "⋁", 96: "∐", 97: "∐", 98: "ˆ", 99: "ˆ", 100: "ˆ", 101: "˜", 102: "˜",
       103: "˜", 104: "[", 105: "]", 106: "⌊", 107: "⌋", 108: "⌈", 109: "⌉", 110: "{", 111: "}", 112: "√", 113: "√", 114: "√", 115: "√",
       116: "√", 122: "⏞", 123: "⏞", 124: "⏟", 125: "⏟"}
OMX |= {63: "", 117: "", 118: "", 119: "", 120: "", 121: ""}  # pieces that only lengthen a sign
AMSA = {3: "□", 4: "■", 38: "≳", 46: "≲", 54: "⩽", 62: "⩾", 88: "✓"}
# Computer Modern, BaKoMa, Latin Modern, TX and PX (Times, Palatino), MathTime: one encoding a kind of font.
FAMILIES = (
    (re.compile(r"CMEX|LMMathExtension|(?:ntx|rtx|tx|px)ex|MTEX", re.I), OMX),
    (re.compile(r"CMMIB?|LMMathItalic|(?:ntx|rtx|tx|px)b?mi(?!a)|MTMI", re.I), OML),
    (re.compile(r"(?:tx|px)sya|MSAM", re.I), AMSA),
    (re.compile(r"CMB?SY|LMMathSymbols|(?:ntx|rtx|tx|px)b?sy(?![abc])|MTSY", re.I), OMS),
)
EXTENSION = re.compile(r"CMEX|txex|ntxex|MTEX|LMMathExtension|rtxex|fourier-mex|zplmex|mathpazo.*ex|esint", re.I)


@lru_cache(maxsize=512)
def encoding(font: str) -> dict[int, str] | None:
    """The encoding of a font by its name; None when it is no TeX mathematics font."""
    plain = re.sub(r"^[A-Z]{6}\+", "", font)
    return next((table for family, table in FAMILIES if family.match(plain)), None)


@lru_cache(maxsize=512)
def hangs(font: str) -> bool:
    """Whether a font's signs hang from their top, so that their baseline is not the line's."""
    return bool(EXTENSION.search(font))


def meaning(font: str, code: int) -> str | None:
    """What an unmapped code of a font means: "" for a piece that only lengthens a sign, None when it is not known."""
    table = encoding(font)
    if table is not None:
        if 161 <= code <= 170:
            code -= 161
        elif 173 <= code <= 195:
            code -= 163
        return table.get(code)
    if hangs(font):
        return None
    return chr(code) if 33 <= code <= 126 else None
