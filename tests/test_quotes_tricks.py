"""Quotes put together from true words, and true quotes in unusual spellings."""

import pytest
from paper2code.check.quotes import Matcher
from paper2code.paper import Block, Equation, Paper, Section, Table, give_ids

TEXTS = [
    r"The gradient is clipped to a global norm of 1.0 [2]. Dropout is 0.05. Our gates use a ramp of 40 steps and a stagger of 10 "
    r"steps, so that by Equation 1 all gates are open after $T - t$ steps. We do not use any weight decay on the gates, and we do not "
    r"claim that the stagger helps. We not only use label smoothing. Warm-up multiplies it by $\min(1, (t + 1)/40)$.",
]


@pytest.fixture(scope="module")
def matcher():
    body = [Block("paragraph", text, source="latex") for text in TEXTS]
    paper = Paper(
        id="0000.00002", title="Tricks", abstract="We open gates.", pages=3,
        sections=[Section(id="3", title="Task and Data", number="3", level=1, source="latex",
                          blocks=[*body, *(Block("equation", ref=f"e{n}") for n in (1, 2, 3, 4))])],
        equations=[
            Equation("e1", "(1)", r"\eta(t) = \eta_0 \left(1 - \frac{t}{T}\right)", section="3", source="latex"),
            Equation("e2", "(2)", r"x_{\ell}^{\prime} = \operatorname{LN}\bigl(x_{\ell-1} + g(t)\, f(x_{\ell-1})\bigr)", section="3",
                     source="latex"),
            Equation("e3", "(3)", r"T_o = (L - 1)\,s + r", section="3", source="latex"),
            Equation("e4", "(4)", r"\mathcal{L} = \Bigl(\log \sum_v \exp z_v\Bigr)^{2} \frac{1}{n}", section="3", source="latex"),
        ],
        tables=[Table("t1", "1", "Results", [["Method", "mean", "sd"], ["Together", "98.8", "0.3"], ["Staggered", "97.4", "0.5"]],
                      section="3")],
    )  # fmt: skip
    give_ids(paper)
    return Matcher(paper)


@pytest.mark.parametrize("place, quote", [
    ("§3", "The gradient is … a ramp of 40 steps"),
    ("§3", "Dropout is … a ramp of 40 steps"),
    ("§3", "weight decay on the gates"),
    ("§3", "the stagger helps"),
    ("§3", "that the stagger helps"),
    ("§3", "min(1, t + 1/40)"),
    ("§3", "after t − T steps"),
    ("Eq. 1", "η(t) = η_0 (1 − T/t)"),
    ("Eq. 1", "η(t) = η_0 1 − t/T"),
    ("Eq. 1", "η(t) = (η_0 1 − t)/T"),
    ("Eq. 1", "η(t) = η_0 (1 − t)"),
    ("Eq. 2", "LN(x_{ℓ−1}) + g(t) f(x_{ℓ−1})"),
    ("Eq. 3", "T_o = (L − 1)(s + r)"),
    ("Eq. 3", "T_o = L − 1 s + r"),
    ("Eq. 4", r"\Bigl(\log \sum_v \exp z_v\Bigr)"),
    ("Table 1", "0.3 Staggered"),
    ("Table 1", "Staggered | 98.8 | 0.3"),
    ("Table 1", "Together | 98.8 | 0.5"),
])  # fmt: skip
def test_what_only_looks_true_is_refused(matcher, place, quote):
    assert matcher.judge(place, quote).state in ("altered", "missing")


@pytest.mark.parametrize("place, quote", [
    ("§3", "The gradient is clipped to a global norm of 1.0 … Dropout is 0.05"),
    ("§3", "a ramp of 40 steps … so that by Eq. (1) all gates are open"),
    ("§3", "use label smoothing"),
    ("§3", "label smoothing"),
    ("§3", "Dropout is .05"),
    ("§3", "a global norm of 1.0 [Pascanu et al., 2013]"),
    ("§3", "so that by Eq. 1 all gates are open"),
    ("§3", r"min(1, \frac{t+1}{40})"),
    ("Eq. 1", "η(t) = η0 (1 − t/T)"),
    ("Eq. 2", "x'_l = LN(x_{l-1} + g(t) f(x_{l-1}))"),
    ("Eq. 2", "x′_ℓ = LN(x_{ℓ−1} + g(t) f(x_{ℓ−1}))"),
    ("Eq. 2", "x_l' = LN(x_{l-1} + g(t) f(x_{l-1}))"),
    ("Eq. 3", "T_o = (L-1)s + r"),
    ("Table 1", "Staggered | 97.4 | 0.5"),
    ("Table 1", "| Staggered | 97.4 | 0.5 |"),
    ("Table 1", "Method mean sd Together 98.8"),
    ("abstract", "We open gates."),
    ("Task and Data", "Dropout is 0.05"),
])  # fmt: skip
def test_true_quotes_in_unusual_spellings_are_verified(matcher, place, quote):
    verdict = matcher.judge(place, quote)
    assert (verdict.state, verdict.problems) == ("verified", ()), verdict.message


def test_a_quote_with_signs_that_have_no_meaning_is_an_error_even_where_the_paper_yields_them():
    from paper2code.check.anchors import Anchor
    from paper2code.check.quotes import findings_of
    from paper2code.find.search import Hit
    from paper2code.find.statements import Statement
    from paper2code.findings import ERROR

    text = "We divide each score by \ufffd\ufffd before the softmax is taken over all keys."
    paper = Paper(id="0000.00003", title="Glyphs", sections=[
        Section(id="3", title="Method", number="3", level=1, source="pdf", blocks=[Block("paragraph", text, source="pdf")])])
    give_ids(paper)
    matcher = Matcher(paper)
    verdict = matcher.judge("§3", text)
    assert verdict.state == "unreadable" and "before the softmax" in verdict.fix
    anchor = Anchor("src/model.py", 3, 3, place="§3", quote=text, text=text, kind="comment")
    assert [finding.severity for finding in findings_of(anchor, verdict, None)] == [ERROR]
    hit = Hit(Statement(0, text, "paragraph", "§3", section="3"))
    assert hit.anchor() == '§3 — "before the softmax is taken over all keys."'
    assert matcher.judge("§3", hit.data()["quote"]).state == "verified"
