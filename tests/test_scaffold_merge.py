"""Three-way merge: what the ledger changed arrives, what the hand wrote stays."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from paper2code.show.merge import merge
from paper2code.show.scaffold import said

BASE = "a\nb\nc\nd\ne\n"


def test_both_sides_arrive_where_they_do_not_touch():
    merged = merge(BASE, "a\nB by hand\nc\nd\ne\n", "a\nb\nc\nd\nE laid\n")
    assert merged.text == "a\nB by hand\nc\nd\nE laid\n"
    assert merged.conflicts == []


def test_the_hand_stays_where_both_changed_and_the_other_is_told():
    merged = merge(BASE, "a\nB by hand\nc\nd\ne\n", "a\nB laid\nc\nd\ne\n")
    assert merged.text == "a\nB by hand\nc\nd\ne\n"
    assert merged.conflicts == [(2, "B laid\n")]


def test_insertions_deletions_and_the_same_change_twice():
    assert merge(BASE, "a\nb\nc\nmine\nd\ne\n", "b\nc\nd\ne\n").text == "b\nc\nmine\nd\ne\n"
    assert merge(BASE, "a\nX\nc\nd\ne\n", "a\nX\nc\nd\ne\nf\n").text == "a\nX\nc\nd\ne\nf\n"


TEXTS = st.lists(st.sampled_from("abcde"), max_size=12).map(lambda lines: "".join(f"{line}\n" for line in lines))


@given(TEXTS, TEXTS)
def test_one_side_unchanged_gives_the_other(base, other):
    assert merge(base, other, base).text == other
    assert merge(base, base, other).text == other
    assert merge(base, other, other).text == other


@given(TEXTS, TEXTS, TEXTS)
def test_no_line_of_the_hand_is_lost_without_the_base_having_it(base, mine, laid):
    """Lines that only the hand has are all still there."""
    merged = merge(base, mine, laid).text.splitlines()
    for line in set(mine.splitlines()) - set(base.splitlines()):
        assert merged.count(line) >= mine.splitlines().count(line)


def test_a_laid_component_beside_a_written_body_is_not_lost_in_silence():
    assert not said('    raise NotImplementedError("FILL IN: the body")\n')
    assert said('    raise NotImplementedError("FILL IN: the body")\n\n\ndef added() -> None:\n    """§4"""\n')
