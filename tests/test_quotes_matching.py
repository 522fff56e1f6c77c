"""True quotes are verified, wrong ones are not, whatever form the mathematics was written in."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paper2code.check.quotes import STATES, Matcher
from paper2code.paper import (
    Algorithm,
    Block,
    Equation,
    Figure,
    Footnote,
    Paper,
    Reference,
    Section,
    Table,
    give_ids,
)


def made() -> Paper:
    def section(number, title, *texts, level=1, **more):
        return Section(id=number or title, title=title, number=number, level=level, source="latex", page=2,
                       blocks=[text if isinstance(text, Block) else Block("paragraph", text, source="latex", page=2)
                               for text in texts], **more)

    paper = Paper(
        id="0000.00001", title="A Small Paper", abstract="We study small models.", pages=9,
        sections=[
            section("1", "Introduction", "Small models are cheap. They do not need a GPU."),
            section("2", "Related Work", "Prior work trains with a batch size of 4096."),
            section("3", "Method", "We describe the model. The encoder-decoder attention is non-linear."),
            section("3.1", "Architecture", r"We employ $h=8$ heads. For each we use $d_k=d_v=d_{\text{model}}/h=64$.",
                    "The output is computed as:", Block("equation", ref="e1"),
                    r"where $\beta_1=0.9$, $\beta_2=0.98$ and $\epsilon=10^{-9}$ are constants.", level=2),
            section("3.2", "Training",
                    "We use a dropout rate of 0.15 and weight decay of $2\\times10^{-4}$ [3]. We train for 100,000 steps "
                    "without dropout on the embeddings. The eﬃcient atten-\ntion needs $x - y$ and $-0.5$. The range is [0, 1].",
                    level=2),
            section("4", "Experiments", "We compare on three data sets. Results differ by 2.5% from the baseline. "
                    "We use ours instead of the strong baseline."),
            section("A", "Details", "The learning rate is 3e-4 and $10^4$ steps are taken.", appendix=True),
        ],
        equations=[Equation("e1", "(1)", r"\mathrm{Attention}(Q,K,V)=\mathrm{softmax}\left(\frac{QK^T}{\sqrt{d_k}}\right)V",
                            section="3.1", source="latex")],
        algorithms=[Algorithm("a1", "1", "Training loop", ["for each step do", "  $x \\gets x - \\eta g$", "end for"],
                              section="3.2")],
        tables=[Table("t1", "1", "Sizes of the models", [["model", "layers", "width"], ["small", "6", "512"]], section="4")],
        figures=[Figure("f1", "1", "The model at a glance", section="3")],
        footnotes=[Footnote("n1", "We tried 0.2 as well.", "1", section="3.2")],
        references=[Reference(f"r{n}", f"Reference {n}") for n in range(1, 6)],
    )
    give_ids(paper)
    return paper


@pytest.fixture(scope="module")
def matcher():
    return Matcher(made())


MATCHER = Matcher(made())

TRUE = [
    ("§3.1", "We employ h=8 heads."),
    ("§3.1", "We employ $h = 8$ heads."),
    ("§3", "We employ h = 8 heads"),
    ("Section 3.1", "dk = dv = dmodel/h = 64"),
    ("Sec. 3.1", "d_k = d_v = d_model/h = 64"),
    ("§3.1", r"$d_k=d_v=d_{\text{model}}/h=64$"),
    ("§3.1", "β1 = 0.9, β2 = 0.98 and ϵ = 10−9"),
    ("§3.1", "β₁ = 0.9, β₂ = 0.98 and ε = 10⁻⁹"),
    ("§3.1", r"\beta_1 = 0.9, \beta_2 = 0.98 and \epsilon = 1e-9"),
    ("§3.1", "beta_1 = 0.9"),
    ("§3.1, Eq. 1", "The output is computed as: … where β1 = 0.9"),
    ("Eq. 1", r"\text{Attention}(Q, K, V) = \text{softmax}(\frac{Q K^T}{\sqrt{d_k}}) V"),
    ("Eq. (1)", "Attention(Q, K, V) = softmax(QK^T / √d_k) V"),
    ("§3.2", "a dropout rate of 0.15"),
    ("§3.2", "weight decay of 2×10⁻⁴"),
    ("§3.2", "weight decay of 2e-4 [3]"),
    ("§3.2", "weight decay of 2e-4. We train for 100000 steps"),
    ("§3.2", "The efficient attention needs x − y and −0.5"),
    ("§3.2", "The range is [0, 1]"),
    ("§3.2", "Training loop"),
    ("§3.2, Footnote 1", "We tried 0.2 as well."),
    ("Algorithm 1, line 2", "x ← x - η g"),
    ("Table 1", "small 6 512"),
    ("§4", "Sizes of the models"),
    ("Figure 1", "The model at a glance"),
    ("Appendix A", "The learning rate is 3×10^{-4}"),
    ("§A", "10^4 steps are taken"),
    ("Abstract", "We study small models."),
    ("§Experiments", "We compare on three data sets."),
    ("§3.2, p. 2", "We use a dropout rate"),
    ("§4", "Results differ by 2.5 % from the baseline"),
    ("", "We compare on three data sets."),
    ("§3", "The encoder–decoder attention is nonlinear"),
]


@pytest.mark.parametrize("place, quote", TRUE)
def test_true_quotes_are_verified(matcher, place, quote):
    verdict = matcher.judge(place, quote)
    assert verdict.state == "verified", verdict


WRONG = [
    ("§3.2", "a dropout rate of 0.1"),
    ("§3.2", "a dropout rate of 0.16"),
    ("§3.2", "a dropout rate of 1.5"),
    ("§3.2", "weight decay of 2e-3"),
    ("§3.2", "weight decay of 2×10^4"),
    ("§3.2", "weight decay of 2"),
    ("§3.2", "weight decay of 2×10"),
    ("§3.2", "weight decay of 2e-4 [4]"),
    ("§3.2", "We train for 100 steps"),
    ("§3.2", "steps with dropout on the embeddings"),
    ("§3.2", "out dropout on the embeddings"),
    ("§3.2", "attention needs x + y"),
    ("§3.2", "attention needs x y"),
    ("§3.2", "x − y and 0.5"),
    ("§3.2", "The range is [0, 2]"),
    ("§3.2", "dropout on the embeddings"),  # leaves out "without"
    ("§1", "need a GPU"),
    ("§4", "the strong baseline"),  # leaves out "instead of"
    ("§1", "They need a GPU."),
    ("§1", "They … need a GPU."),
    ("§1", "They do not need a CPU."),
    ("§3", "The decoder attention is linear"),
    ("§3", "linear"),
    ("§3.1", "ϵ = 10^9"),
    ("§3.1", "ϵ = 109"),
    ("§3.1", "ϵ = 10−8"),
    ("§3.1", "ϵ = 0.000000001"),
    ("§3.1", "β1 = 0.98"),
    ("§3.1", "β2 = 0.9"),
    ("§A", "104 steps are taken"),
    ("§A", "10^-4 steps are taken"),
    ("§A", "4 steps are taken"),
    ("§A", "The learning rate is 3"),
    ("§4", "Results differ by 2.5"),
    ("§4", "We compare on three data sets. Small models are cheap."),
    ("Eq. 1", r"softmax(\frac{QK^T}{d_k})V"),
    ("§3.1", "We employ … 64"),
]


@pytest.mark.parametrize("place, quote", WRONG)
def test_wrong_quotes_are_not(matcher, place, quote):
    verdict = matcher.judge(place, quote)
    assert verdict.state in ("altered", "missing"), verdict
    assert verdict.fix


@pytest.mark.parametrize("place, quote, found_at", [
    ("§3.1", "a dropout rate of 0.15", "§3.2"), ("§4", "We employ h=8 heads.", "§3.1"), ("§9", "We employ h=8 heads.", "§3.1"),
    ("§3.2", "Sizes of the models", "Table 1"), ("Algorithm 1, line 1", "x ← x - η g", "Algorithm 1, line 2"),
    ("Abstract", "We compare on three data sets.", "§4"), ("Table 1", "The learning rate is 3e-4", "Appendix A"),
])
def test_true_elsewhere_is_moved(matcher, place, quote, found_at):
    verdict = matcher.judge(place, quote)
    assert (verdict.state, verdict.found_at) == ("moved", found_at)
    assert verdict.fix.startswith(found_at)


def test_where_the_paper_is_garbled_nothing_can_be_compared():
    paper = made()
    paper.warn("garbled", "page 2 is garbled", "page 2")
    for section in paper.sections:
        for block in section.blocks:
            block.page = 2 if section.number == "3.2" else 1
    matcher = Matcher(paper)
    assert matcher.judge("§3.2", "nothing that could be found in there").state == "unreadable"
    assert matcher.judge("§3.2", "We use a dropout rate of 0.15").state == "verified"
    assert matcher.judge("§4", "nothing that could be found in there").state == "missing"
    paper.sections[3].blocks[0].text = "\ufffd\ue001 (cid:12) " * 30
    assert Matcher(paper).judge("§3.1", "nothing that could be found in there").state == "unreadable"


def test_related_work_is_deferred(matcher):
    assert matcher.judge("§2", "trains with a batch size of 4096").state == "deferred"


def test_altered_says_what_to_put(matcher):
    verdict = matcher.judge("§3.2", "We use a dropout rate of 0.25 and weight decay")
    assert verdict.state == "altered"
    assert "0.25" in verdict.difference and "0.15" in verdict.difference
    assert verdict.fix.startswith("§3.2 — ") and "0.15" in verdict.fix


def test_a_pdf_heading_without_number_belongs_to_the_section_before():
    def section(number, title, text):
        return Section(number or title, title, number, 2 if number and "." in number else 1, source="pdf", page=1,
                       blocks=[Block("paragraph", text, source="pdf")])

    paper = Paper(title="P", sections=[section("4", "Experiments", "First words are here."), section("4.1", "Setup", "Second words are here."),
                                       section(None, "Effects of size.", "Third words are here."),
                                       section("5", "Conclusion", "Fourth words are here."),
                                       section(None, "Acknowledgments", "Fifth words are here.")])
    give_ids(paper)
    matcher = Matcher(paper)
    assert [matcher.judge("§4.1", f"{word} words are here.").state for word in ("Second", "Third", "Fourth")] == [
        "verified", "verified", "moved"]
    assert matcher.judge("§5", "Fifth words are here.").state == "moved"


@pytest.mark.parametrize("state, places", [
    ("cited", "§3.2|Eq. 1|Table 1|Algorithm 1, lines 1-3|Appendix A|Figure 1|Footnote 1|Abstract|§Experiments|§3.1, Eq. 1|"
              "§3, p. 2"),
    ("no-such-place", "§7|Eq. 4|Table 3|Algorithm 1, lines 2-9|Appendix B|Footnote 2|§Experimental setup|p. 30|gibberish"),
])
def test_places_without_quote(matcher, state, places):
    assert {place: matcher.judge(place, "").state for place in places.split("|")} == {place: state for place in places.split("|")}


SENTENCES = [sentence for section in made().sections if section.title != "Related Work" for block in section.blocks if block.text
             for sentence in block.text.split(". ")]


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_stretch_of_the_paper_is_verified_and_a_changed_number_is_not(data):
    matcher = MATCHER
    words = data.draw(st.sampled_from(SENTENCES)).rstrip(".").split()
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    quote = " ".join(words[first: last + 1])
    verdict = matcher.judge("", quote)
    if verdict.state != "verified":  # it was cut where it may not be
        assert verdict.message
        return
    digits = [place for place, char in enumerate(quote) if char.isdigit()]
    if digits and last > first + 1:  # one number alone may stand anywhere
        place = data.draw(st.sampled_from(digits))
        new = data.draw(st.sampled_from([digit for digit in "0123456789" if digit != quote[place]]))
        changed = quote[:place] + new + quote[place + 1:]
        known = matcher.judge("", changed)
        assert known.state != "verified", (quote, changed)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("§ .,0123456789\"—-()ABab…")), max_size=120), st.text(max_size=60))
def test_any_place_and_quote_get_a_state(quote, place):
    assert MATCHER.judge("§" + place, quote).state in STATES
    assert MATCHER.judge(quote, place).state in STATES


def test_index_in_brackets_of_a_display_formula_is_no_citation():
    formula = r"\bm{z}[i][j] = \bm{z}[i-1][r[j]] + \bm{v_{\theta}}(j-r[j])"
    paper = Paper(sections=[Section("s", "2", "Method", 1)], equations=[Equation("e", "(2)", formula, section="s", source="latex")])
    matcher = Matcher(paper)
    assert matcher.judge("Eq. 2", formula).state == "verified"
    assert matcher.judge("Eq. 2", formula.replace("i-1", "i-2")).state != "verified"
    assert matcher.judge("Eq. 2", formula.replace("i-1", "i+1")).state != "verified"
