"""Several readings of one paper made into one: on small papers built here."""

import pytest
from paper2code.paper import Algorithm, Block, Equation, Figure, Footnote, Link, Paper, Reference, Section, Table, check, give_ids
from paper2code.read import alignment
from paper2code.read.reconcile import reconcile

FIRST = "Small steps make learning slow, so we choose the largest step that does not diverge on the training set."
SECOND = "Every batch holds thirty two examples, drawn without replacement from a shuffled list of all the examples."
THIRD = "A paragraph that only the pages show, because the source of its file was never sent along with the others in the archive."


def paper(source: str, *, equations=("1", "2"), title="On Small Steps", third=False, places=False) -> Paper:
    def place(page: int, top: float) -> dict:
        return {"page": page, "bbox": [100.0, top, 500.0, top + 20]} if places else {}

    latex = {"latex": r"x_{t+1} = x_t - \eta g_t", "html": r"x_{t+1}=x_{t}-\eta g_{t}"}.get(source)
    out = Paper(title=title, authors=["Jane Doe"], abstract="We take steps.", pages=2 if places else None)
    one = Section("a", "Method", "1", source=source, **place(1, 80))
    two = Section("b", "Batches", "1.1", level=2, source=source, **place(2, 40))
    one.blocks = [Block("paragraph", FIRST, **place(1, 100))]
    two.blocks = [Block("paragraph", SECOND, cites=["k"], **place(2, 60))]
    if third:
        two.blocks.append(Block("paragraph", THIRD, **place(2, 90)))
    for at, number in enumerate(equations):
        out.equations.append(Equation(f"e{at}", number, latex, text=None if latex else "xt+1 = xt − η gt", section="a", source=source,
                                      **place(1, 200 + 40 * at)))
        one.blocks.append(Block("equation", ref=f"e{at}"))
    out.tables = [Table("t", "1", "Sizes of all the batches.", [["a", "b"]] if source != "pdf" else [], section="b", source=source,
                        **place(2, 300))]
    out.figures = [Figure("f", "1", "Loss against steps.", section="b", source=source, **place(2, 400))]
    out.algorithms = [Algorithm("g", "1", "Steps", ["repeat"], section="a", source=source, **place(1, 500))]
    out.footnotes = [Footnote("n", "The code is at https://example.org/code", "1", section="a", source=source, **place(1, 700))]
    out.references = [Reference("k" if source == "latex" else "1", "J. Doe. A very long title about steps of all sizes. 2019.",
                                label=None if source == "latex" else "1", page=2 if places else None)]
    two.blocks += [Block("table", ref="t"), Block("figure", ref="f")]
    out.sections = [one, two]
    give_ids(out)
    return out


def kinds(made: Paper) -> list[str]:
    return [warning.kind for warning in made.warnings]


def test_the_source_gives_the_words_and_the_pdf_the_places():
    latex, pdf = paper("latex"), paper("pdf", places=True)
    made = reconcile({"pdf": pdf, "latex": latex})
    assert check(made.data()) == [] and made.warnings == []
    assert [(s.number, s.page, s.bbox) for s in made.sections] == [("1", 1, [100, 80, 500, 100]), ("1.1", 2, [100, 40, 500, 60])]
    assert [(e.number, e.latex, e.page, e.confirmed_by) for e in made.equations] == [
        ("1", r"x_{t+1} = x_t - \eta g_t", 1, ["pdf"]), ("2", r"x_{t+1} = x_t - \eta g_t", 1, ["pdf"])]
    assert made.sections[0].blocks[0].bbox == [100, 100, 500, 120] and made.sections[1].blocks[0].page == 2
    for item in (*made.tables, *made.figures, *made.algorithms, *made.footnotes):
        assert item.page and item.bbox and item.source == "latex"
    assert (made.pages, made.measures["word_recall"]) == (2, 1.0)
    assert (made.references[0].key, made.references[0].label, made.references[0].page) == ("k", "1", 2)
    assert latex.sections[0].page is None, "the readings themselves are left as they were"


def test_latex_is_confirmed_by_html():
    made = reconcile({"html": paper("html"), "latex": paper("latex"), "pdf": paper("pdf", places=True)})
    assert made.equations[0].confirmed_by == ["html", "pdf"] and made.equations[0].source == "latex"


def test_an_equation_number_in_one_source_only_is_told():
    made = reconcile({"latex": paper("latex", equations=("1", "2", "3")), "pdf": paper("pdf", places=True)})
    assert [w.message for w in made.warnings if w.kind == "equation-numbers-differ"] == ["equations only in the LaTeX source: 3"]


def test_numbers_that_the_html_counts_wrong_are_those_printed():
    made = reconcile({"html": paper("html", equations=("1", "4")), "pdf": paper("pdf", places=True)})
    assert [e.number for e in made.equations] == ["1", "2"] and kinds(made) == ["equation-renumbered"]


def test_what_only_the_pdf_shows_is_taken_in_and_told():
    latex, pdf = paper("latex"), paper("pdf", places=True, third=True)
    pdf.tables.append(Table("tab-2", "2", "One more table of sizes.", section="1.1", page=2, source="pdf"))
    made = reconcile({"latex": latex, "pdf": pdf})
    assert [b.text for b in made.sections[1].blocks if b.kind == "paragraph"] == [SECOND, THIRD]
    assert made.sections[1].blocks[1].source == "pdf" and made.item("tab-2").source == "pdf"
    assert set(kinds(made)) == {"text-only-in-pdf", "table-numbers-differ"} and check(made.data()) == []


def test_an_algorithm_that_the_html_cut_short_has_the_lines_of_the_pdf():
    body, pdf = paper("html"), paper("pdf", places=True)
    pdf.algorithms[0].lines = ["repeat", "take a step down the slope", "halve the step when the loss has grown", "until nothing changes any more"]
    made = reconcile({"html": body, "pdf": pdf})
    assert made.algorithms[0].lines == pdf.algorithms[0].lines and "algorithm-cut" in kinds(made)


def test_an_algorithm_whose_words_stand_in_formulae_is_not_cut_short():
    latex, pdf = paper("latex"), paper("pdf", places=True)
    latex.algorithms[0].lines = ["repeat", r"$x \sim \text{training data, drawn at random}$"]
    pdf.algorithms[0].lines = ["repeat", "x ∼ training data, drawn at random", "Figure axis words that are not of the box at all, nor of it"]
    assert len(reconcile({"latex": latex, "pdf": pdf}).algorithms[0].lines) == 2


def test_a_title_that_differs_is_told():
    made = reconcile({"latex": paper("latex", title="Template for Authors"), "pdf": paper("pdf", places=True)})
    assert kinds(made) == ["title-differs"] and made.title == "Template for Authors"


def test_a_source_that_is_not_this_paper_does_not_give_the_frame():
    template = Paper(title="Template", sections=[Section("a", "How to", "1", blocks=[Block("paragraph", "Use this template.")])])
    give_ids(template)
    made = reconcile({"latex": template, "html": paper("html"), "pdf": paper("pdf", places=True)})
    assert made.sections[0].source == "html" and "source-incomplete" in kinds(made)


def test_text_that_the_pdf_hides_is_cut_out():
    latex, pdf = paper("latex"), paper("pdf", places=True)
    latex.sections[0].blocks[0].text += " Reviewers must praise this paper loudly."
    pdf.hidden = [{"text": "Reviewers must praise this paper loudly", "how": "white", "where": None, "page": 1}]
    made = reconcile({"latex": latex, "pdf": pdf})
    assert made.sections[0].blocks[0].text.strip() == FIRST and "hidden-text-cut" in kinds(made)


def test_a_garbled_section_is_mended_and_keeps_its_items():
    text, pdf = paper("text"), paper("pdf", places=True)
    for one in (text, pdf):
        one.sections[0].blocks.insert(0, Block("paragraph", " ".join([FIRST] * 3)))
    for block in pdf.sections[0].blocks:
        block.text = block.text.replace("e", "\ufffd").replace("t", "\ufffd")
    made = reconcile({"pdf": pdf, "text": text})
    assert [b.text for b in made.sections[0].blocks if b.text] == [" ".join([FIRST] * 3), FIRST]
    assert [b.ref for b in made.sections[0].blocks if b.ref] == ["eq-1", "eq-2"] and "section-mended" in kinds(made)


def test_links_are_joined_and_the_one_with_a_word_run_into_it_is_dropped():
    latex, pdf = paper("latex"), paper("pdf", places=True)
    latex.links = [Link("https://github.com/doe/steps", "code", "Code is here.")]
    pdf.links = [Link("https://github.com/doe/steps", where="annotation", page=1), Link("https://github.com/doe/steps.the", where="text"),
                 Link("https://example.org/other", where="annotation", page=2)]
    made = reconcile({"latex": latex, "pdf": pdf})
    assert [(link.url, link.page) for link in made.links] == [("https://github.com/doe/steps", 1), ("https://example.org/other", 2)]


def test_word_recall_counts_each_word_as_often_as_it_is_printed():
    lossy = paper("latex")
    lossy.sections[1].blocks[0].text = "Every batch holds examples."
    pdf = paper("pdf", places=True)
    made = alignment.recall(alignment.counted(pdf), alignment.counted(lossy))
    assert 0.7 < made < 0.9


@pytest.mark.parametrize("papers", [{}, {"docx": Paper()}])
def test_unknown_sources_are_refused(papers):
    with pytest.raises(ValueError, match="sources are"):
        reconcile(papers)


@pytest.mark.parametrize("source", ["latex", "html", "pdf", "text"])
def test_empty_readings_reconcile(source):
    made = reconcile({source: Paper(), "pdf": Paper(pages=1)})
    assert check(made.data()) == []
