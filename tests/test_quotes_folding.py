"""Folding: what is one text in different writing comes out alike, what is another text does not."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paper2code.fold import agree, fold


def same(quote: str, passage: str, **more) -> bool:
    """Whether a quote is, as a whole, the passage."""
    one = [fold(quote, high_first=order) for order in (False, True)]
    two = [fold(passage, high_first=order) for order in (False, True)]
    return any(a.text == b.text and agree(a.marks, b.marks, 0, len(a.text), lossy=False, references=20, **more)
               for a in one for b in two)


ALIKE = [
    "d_model = 512|$d_{\\text{model}}=512$|dmodel = 512|$d_\\mathrm{model} = 512$",
    "β1 = 0.9|$\\beta_1=0.9$|β₁=0.9|beta_1 = 0.9|\\beta_{1} = 0.9",
    "we set ϵ = 10⁻⁹ here|we set $\\epsilon=10^{-9}$ here|we set ε = 1e-9 here|we set $\\varepsilon = 1\\times10^{-9}$ here",
    "a rate of 2e-4|a rate of $2 \\times 10^{-4}$|a rate of 2×10⁻⁴|a rate of $2\\cdot 10^{-4}$",
    "10^4 steps|$10^4$ steps|10⁴ steps|1e4 steps",
    "100,000 steps|100000 steps|100{,}000 steps|$100\\,000$ steps",
    "16x16 patches|$16\\times 16$ patches|16×16 patches|16 × 16 patches",
    "a 2x gain|a 2× gain|a $2\\times$ gain",
    "the efficient attention|the eﬃcient atten-\ntion|the efﬁcient at\u00adten\u00adtion",
    "state-of-the-art naïve|state of the art naive|state–of–the–art nai\u0308ve",
    "a - b|$a-b$|a − b", "x' = 1|x′ = 1|$x^\\prime=1$", "x_i^2 y|$x^2_i$ y|$x_{i}^{2}y$",
    "H_Kⁿ|$H^n_K$|$H_K^{n}$|H_K^n", "h_i^k−1 is|$h_i^{k-1}$ is|$h^{k-1}_i$ is", "X_r−1^E(f)|$X^E_{r-1}(f)$", "xᵢ² y|$x_i^2$ y",
    "D_R^Test|$D_\\textrm{R}^\\textrm{Test}$|$D^{\\text{Test}}_R$",
    "mˆt/( √ vˆt + ϵ)|m̂_{t}/( \\sqrt{v̂_{t}} + ϵ)|$\\hat{m}_t / (\\sqrt{\\hat{v}_t} + \\epsilon)$",
    "t + \\frac{1}{2}|$t + \\frac{1}{2}$|t + 1/2",
    "a new θ′0 ∼ Dθ|a new θ′_{0} ∼ D_{θ}|a new $\\theta'_0 \\sim D_\\theta$", "by s′t we|by s′_{t} we|by $s_t'$ we",
    "5% of it|5\\% of it|5 % of it", "a/b|$\\frac{a}{b}$|$\\dfrac a b$", "√d_k|$\\sqrt{d_k}$|sqrt(d_k)",
    "a ≤ b|$a \\leq b$|a <= b", "a ≠ b|$a\\neq b$|a != b|a ̸= b", "“quoted” text|\"quoted\" text|``quoted'' text",
    "Adam [12] works|Adam works|Adam (Kingma and Ba, 2014) works|Adam [?] works|Adam (kingma2014adam) works"
    "|Adam Kingma & Ba (2014) works",
]
OTHER = [
    ("dropout of 0.1", "dropout of 0.15"), ("10^4", "10^-4"), ("10^4", "104"), ("ϵ = 10−9", "ϵ = 10^9"), ("x − y", "x y"),
    ("x + y", "x − y"), ("of -0.1", "of 0.1"), ("of 0.1", "of −0.1"), ("1 05", "105"), ("1.5", "15"), ("3e-4", "3e-3"),
    ("0.10", "0.1"), ("x^2", "x_2"), ("x′ y", "x y"), ("range [0, 1]", "range [0, 2]"), ("a/b", "ab"), ("Adam [12]s", "Adam [13]s"),
    ("see (Kingma, 2014) on", "see (Kingma, 2015) on"), ("5% of", "5 of"), ("a ≤ b", "a < b"), ("without", "with"),
    ("1e-9", "0.000000001"), ("α", "a"), ("2×105", "2×10^5"), ("see [7] on", "see on"),
]


@pytest.mark.parametrize("forms", ALIKE)
def test_one_text_in_other_writing(forms):
    first, *rest = forms.split("|")
    if "[12]" in first:  # a quote may leave a citation out, not put one in
        assert all(same(form, first) for form in rest)
        return
    assert [form for form in rest if not same(form, first) or not same(first, form)] == []


@pytest.mark.parametrize("quote, passage", OTHER)
def test_another_text(quote, passage):
    assert not same(quote, passage)


def test_a_number_above_the_bibliography_is_no_citation():
    quote, passage = fold("in a range of values"), fold("in a range [5, 64] of values")
    assert quote.text == passage.text
    assert not agree(quote.marks, passage.marks, 0, len(quote.text), lossy=False, references=20)


def test_a_quote_copied_from_a_pdf_has_powers_before_indices():
    assert same("DTest R", "$D_\\textrm{R}^\\textrm{Test}$") and same("h(xj , yj )T", "$h(x_j,y_j)^T$")
    assert not same("DR Tests", "$D_\\textrm{R}^\\textrm{Test}$")


def test_a_pdf_may_have_lost_its_powers():
    quote, passage = fold("of $x^2y$"), fold("of x2y")
    assert agree(quote.marks, passage.marks, 0, len(quote.text), lossy=True, references=0)
    assert not agree(quote.marks, passage.marks, 0, len(quote.text), lossy=False, references=0)


def test_latex_broken_by_a_string_is_mended():
    assert fold("\x0crac{1}{2} and \x08eta").text == fold("\\frac{1}{2} and \\beta").text


def test_tokens_lead_back_to_the_original():
    text = "We set $d_{\\text{model}}=512$ and ﬁx 1e-9."
    folded = fold(text)
    assert [text[a:b] for a, b in zip(folded.begins, folded.stops, strict=True)] == [
        "We", "set", "d", "model", "=", "512", "and", "ﬁx", "1e-9", "1e-9"]


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("\\{}$^_-−.,0123456789 ab[]()'\"…/\x00\x0c")), max_size=200))
def test_anything_can_be_folded(text):
    folded = fold(text)
    assert folded.text == fold(text).text
    assert list(folded.starts) == sorted(folded.starts) and len(folded.starts) == len(folded.stops)
    assert all(0 <= a < b <= len(folded.original) for a, b in zip(folded.begins, folded.stops, strict=True))
    assert [mark.at for mark in folded.marks] == sorted(mark.at for mark in folded.marks)
    assert same(text, text)


@pytest.mark.parametrize("part", [
    "(", "[1, ", "a-", "\\frac{", "(Aa, ", "(Aa ", "1", "$", "x^{", "A b ", "[aa, ", "(aa2014; ", "_{\\a{", "1,000"])
def test_hostile_text_folds_in_linear_time(part):
    started = time.process_time()
    fold(part * 8000 + "}" * 8000)
    assert time.process_time() - started < 1.5
