"""Sentences and their exact places."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paper2code.sentences import sentences


@pytest.mark.parametrize("text, expected", [
    ("We train it. It works.", ["We train it.", "It works."]),
    ("We use Adam (Kingma et al., 2014). The rate is 3.5e-4.", ["We use Adam (Kingma et al., 2014).", "The rate is 3.5e-4."]),
    ("As Smith et al. show, it is so.", ["As Smith et al. show, it is so."]),
    ("Smith et al. (2014) show it. See Fig. 3 and Eq. (4).", ["Smith et al. (2014) show it.", "See Fig. 3 and Eq. (4)."]),
    ("It holds, e.g. Theorem 2, i.e. Always.", ["It holds, e.g. Theorem 2, i.e. Always."]),
    ("Let $x = 1. Y$ hold. Then $y.$ We go on.", ["Let $x = 1. Y$ hold.", "Then $y.$", "We go on."]),
    ("A. N. Gomez wrote it. We read it.", ["A. N. Gomez wrote it.", "We read it."]),
    ("It is so.[12] We agree.", ["It is so.[12]", "We agree."]),
    ("It is at https://a.b/c. We go on.", ["It is at https://a.b/c.", "We go on."]),
    ("See https://a.b/c.D for it. Done.", ["See https://a.b/c.D for it.", "Done."]),
    ("Images, texts, etc. are used. Sounds etc. We go on.", ["Images, texts, etc. are used.", "Sounds etc.", "We go on."]),
    ("What is it? A model! Yes.", ["What is it?", "A model!", "Yes."]),
    ("He said “it works.” We agree.", ["He said “it works.”", "We agree."]),
    ("one\n\ntwo", ["one", "two"]),
    ("Settings:\n- Adam\n- rate 0.1", ["Settings:", "- Adam", "- rate 0.1"]),
    ("用了亚当。学习率是0.1。", ["用了亚当。", "学习率是0.1。"]),
    ("In the U.S. people agree. (See the appendix.) We do.", ["In the U.S. people agree.", "(See the appendix.)", "We do."]),
    ("GPU times (head dim. 64, 16 heads). We add a dim. We go on.",
     ["GPU times (head dim. 64, 16 heads).", "We add a dim.", "We go on."]),
    ("no full stop", ["no full stop"]),
    ("", []),
])
def test_where_sentences_end(text, expected):
    assert [sentence.text for sentence in sentences(text)] == expected


@given(st.text(alphabet="aB1.!?$ \n()[]\"'\\{}。,-", max_size=80))
def test_slices_are_exact_and_nothing_is_lost(text):
    found = sentences(text)
    assert all(text[sentence.start:sentence.end] == sentence.text and sentence.text.strip() for sentence in found)
    assert "".join("".join(sentence.text.split()) for sentence in found) == "".join(text.split())
