"""The HTML reader on small pages in LaTeXML's vocabulary, written for these tests."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paper2code.paper import check
from paper2code.read import html


def page(body: str, title: str = "A Small Paper") -> str:
    return f"""<!DOCTYPE html><html><head><title>{title}</title></head><body><nav class="ltx_page_navbar">menu</nav>
    <article class="ltx_document"><h1 class="ltx_title ltx_title_document">{title}</h1>{body}</article></body></html>"""


def section(body: str, number: str = "1", title: str = "Method", kind: str = "section") -> str:
    tag = f'<span class="ltx_tag ltx_tag_{kind}">{number} </span>'
    return f'<section class="ltx_{kind}"><h2 class="ltx_title ltx_title_{kind}">{tag}{title}</h2>{body}</section>'


def para(text: str) -> str:
    return f'<div class="ltx_para"><p class="ltx_p">{text}</p></div>'


def math(tex: str) -> str:
    return f'<math class="ltx_Math" alttext="{tex}" display="inline"><semantics><mi>glyphs</mi></semantics></math>'


def row(tex: str, number: str | None = None) -> str:
    tag = f'<td class="ltx_eqn_cell ltx_eqn_eqno"><span class="ltx_tag ltx_tag_equation">({number})</span></td>' if number else ""
    return f'<tr class="ltx_equation ltx_eqn_row"><td class="ltx_eqn_cell">{math(tex)}</td>{tag}</tr>'


def test_sections_have_printed_numbers_and_text_keeps_mathematics():
    paper = html.read(page(section(para(f"We set {math('x_{t}=1')} here."), "2.1.", "Model", "subsection")))
    assert paper.title == "A Small Paper"
    assert [(s.id, s.number, s.title, s.level) for s in paper.sections] == [("2.1", "2.1", "Model", 2)]
    assert paper.sections[0].blocks[0].text == "We set $x_{t}=1$ here."


def test_rows_of_a_group_are_equations_and_a_row_without_number_leads_up_to_the_next():
    group = f'<table class="ltx_equationgroup">{row("a", "1")}{row("b")}{row("=c", "2")}{row("+d")}</table>'
    paper = html.read(page(section(para("text") + group)))
    assert [(e.number, e.latex) for e in paper.equations] == [("1", "a"), ("2", r"b \\ =c \\ +d")]
    assert len({e.group for e in paper.equations}) == 1
    assert [b.ref for b in paper.sections[0].blocks if b.kind == "equation"] == ["eq-1", "eq-2"]


def figure(kind: str, body: str, tag: str, caption: str) -> str:
    name = "float" if kind == "float_algorithm" else kind
    extra = "ltx_float " if kind == "float_algorithm" else ""
    return (f'<figure class="{extra}ltx_{kind}">{body}<figcaption class="ltx_caption"><span class="ltx_tag ltx_tag_{name}">{tag} </span>'
            f"{caption}</figcaption></figure>")


def note(text: str, mark: str = "1", role: str = "footnote") -> str:
    return (f'<span class="ltx_note ltx_role_{role}"><sup class="ltx_note_mark">{mark}</sup><span class="ltx_note_outer">'
            f'<span class="ltx_note_content"><sup class="ltx_note_mark">{mark}</sup><span class="ltx_tag ltx_tag_note">{mark}</span>'
            f"{text}</span></span></span>")


def cells(*rows: str) -> str:
    body = "".join(f'<tr class="ltx_tr">{"".join(f"<td class=ltx_td>{cell}</td>" for cell in row.split("|"))}</tr>' for row in rows)
    return f'<table class="ltx_tabular">{body}</table>'


def texts(paper, kind: str = "paragraph") -> list[str]:
    return [block.text for one in paper.sections for block in one.blocks if block.kind == kind]


def test_levels_appendices_and_paragraph_headings():
    appendix = section(para("x") + section(para("y"), "A.1 ", "More", "subsection"), "Appendix A", "Details", "appendix")
    run_in = '<section class="ltx_paragraph"><h4 class="ltx_title ltx_title_paragraph">Data.</h4>' + para("z") + "</section>"
    paper = html.read(page(section(run_in) + appendix))
    assert [(s.number, s.title, s.level, s.appendix) for s in paper.sections] == [
        ("1", "Method", 1, False), (None, "Data.", 4, False), ("A", "Details", 1, True), ("A.1", "More", 2, True)]


def test_what_follows_the_references_is_an_appendix():
    references = '<section class="ltx_bibliography"><h2 class="ltx_title ltx_title_bibliography">References</h2></section>'
    paper = html.read(page(section(para("x")) + references + section(para("y"), "2", "Proofs")))
    assert [(s.title, s.appendix) for s in paper.sections] == [("Method", False), ("Proofs", True)]


def test_lettered_sections_after_a_heading_appendix():
    head = '<section class="ltx_section"><h2 class="ltx_title ltx_title_section">Appendix</h2></section>'
    paper = html.read(page(section(para("x")) + head + section(para("y"), "A", "Proofs")))
    assert [(s.title, s.appendix) for s in paper.sections] == [("Method", False), ("Appendix", True), ("Proofs", True)]


def test_a_paragraph_keeps_its_words_once_and_gives_up_notes_links_and_citations():
    cite = '<cite class="ltx_cite">[<a href="#bib.bib2" class="ltx_ref">2</a>]</cite>'
    link = '<a href="https://example.org/code" class="ltx_ref ltx_href">here</a>'
    paper = html.read(page(section(para(f"Code{note('Or at https://example.org.')} is {link}, as in {cite}. Not 10<sup>-4</sup>."))))
    assert texts(paper) == ["Code is here, as in [2]. Not 10^{-4}."]
    assert [(n.number, n.text, n.section, n.kind) for n in paper.footnotes] == [("1", "Or at https://example.org.", "1", "footnote")]
    assert [(link.url, link.where) for link in paper.links] == [("https://example.org/code", "text")]
    assert paper.sections[0].blocks[0].cites == ["bib.bib2"] and paper.sections[0].blocks[1].ref == "fn-1"


def test_a_display_in_a_paragraph_parts_it_and_no_word_moves():
    display = f'<table class="ltx_equation ltx_eqn_table"><tbody>{row("a=b", "3")}</tbody></table>'
    paper = html.read(page(section(f'<div class="ltx_para"><p class="ltx_p">Let</p>{display}<p class="ltx_p">hold.</p></div>')))
    assert [(b.kind, b.text, b.ref) for b in paper.sections[0].blocks] == [
        ("paragraph", "Let", None), ("equation", "", "eq-3"), ("paragraph", "hold.", None)]


def test_a_number_that_stands_for_two_rows_is_one_equation():
    first = row("x", "7").replace('<td class="ltx_eqn_cell ltx_eqn_eqno">', '<td rowspan="2" class="ltx_eqn_cell ltx_eqn_eqno">')
    paper = html.read(page(section(f'<table class="ltx_equationgroup">{first}{row("=y")}{row("=z", "8")}</table>')))
    assert [(e.number, e.latex) for e in paper.equations] == [("7", r"x \\ =y"), ("8", "=z")]


@pytest.mark.parametrize(("tex", "wanted"), [
    (r"\displaystyle x_{i}^{\prime}", "x_{i}'"), ("a%\nb", "ab"), (r"50\%", r"50\%"), (r"{\color[rgb]{0,0,1}\phi}", r"{\phi}"),
    (r"\Big{(}x\Big{)}", r"\Big(x\Big)"), (r"\bigg{\{}x\bigg{|}", r"\bigg\{x\bigg|"), (r"a\hskip 28.4pt b", r"a\quad b"),
    (r"\sum_{\begin{subarray}{c}i\\ j\end{subarray}}", r"\sum_{\substack{i\\ j}}"), (r"x^{\prime\prime}", "x''")])
def test_tex_reads_as_an_author_writes_it(tex, wanted):
    assert html.tidy(tex) == wanted


def test_mathematics_inside_mathematics_is_read_once():
    inner = '<mtext><math alttext="|x\\rangle"><mi>x</mi></math></mtext>'
    outer = f'<math class="ltx_Math" alttext="\\mbox{{$|x\\rangle$}}+1"><semantics><mrow>{inner}</mrow></semantics></math>'
    display = f'<table class="ltx_equation"><tr class="ltx_equation ltx_eqn_row"><td class="ltx_eqn_cell">{outer}</td></tr></table>'
    assert [e.latex for e in html.read(page(section(display))).equations] == [r"\mbox{$|x\rangle$}+1"]


def test_tables_with_spans_and_their_captions():
    grid = ('<table class="ltx_tabular"><tr class="ltx_tr"><td class="ltx_td" rowspan="2">m</td><td class="ltx_td" colspan="2">n</td></tr>'
            '<tr class="ltx_tr"><td class="ltx_td">1</td><td class="ltx_td">2</td></tr></table>')
    table = html.read(page(section(figure("table", grid, "Table 2:", "Sizes.")))).tables[0]
    assert (table.number, table.caption, table.rows) == ("2", "Sizes.", [["m", "n", ""], ["", "1", "2"]])


def test_a_table_made_of_spans():
    body = ('<span class="ltx_tabular"><span class="ltx_tr"><span class="ltx_td ltx_colspan ltx_colspan_2">a</span></span>'
            '<span class="ltx_tr"><span class="ltx_td">b</span><span class="ltx_td">c</span></span></span>')
    assert html.read(page(section(figure("table", body, "Table 1:", "T.")))).tables[0].rows == [["a", ""], ["b", "c"]]


def test_two_captions_in_one_float_are_two_items():
    body = "".join(f'<div class="ltx_flex_cell"><figure class="ltx_figure ltx_minipage">{cells(f"{n}|x", "y|z")}<figcaption '
                   f'class="ltx_caption"><span class="ltx_tag ltx_tag_table">Table {n}: </span>Number {n}.</figcaption></figure></div>'
                   for n in (1, 2))
    paper = html.read(page(section(f'<figure class="ltx_table"><div class="ltx_flex_figure">{body}</div></figure>')))
    assert [(t.number, t.caption, t.rows) for t in paper.tables] == [
        ("1", "Number 1.", [["1", "x"], ["y", "z"]]), ("2", "Number 2.", [["2", "x"], ["y", "z"]])]


def test_panels_belong_to_their_figure_and_their_captions_are_kept():
    panel = ('<figure class="ltx_figure"><img class="ltx_graphics" src="x1.png" alt="Refer to caption"><figcaption class="ltx_caption">'
             '<span class="ltx_tag ltx_tag_figure">(a) </span>Loss.</figcaption></figure>')
    paper = html.read(page(section(figure("figure", panel, "Figure A2:", "Curves."))))
    assert [(f.number, f.caption, f.files) for f in paper.figures] == [("A2", "Curves.", ["x1.png"])]
    assert texts(paper) == ["(a) Loss."]


def test_an_algorithm_has_lines_with_their_indentation():
    lines = "".join(f'<div class="ltx_listingline"><span class="ltx_tag ltx_tag_listingline">{n}:</span>{"&#160;" * depth}{text}\n</div>'
                    for n, depth, text in ((1, 2, "<b>for</b> all x <b>do</b>"), (2, 5, "step"), (3, 2, "<b>end for</b>")))
    paper = html.read(page(section(figure("float_algorithm", f'<div class="ltx_listing">{lines}</div>', "Algorithm 1", "Steps"))))
    algorithm = paper.algorithms[0]
    assert (algorithm.number, algorithm.caption, algorithm.lines) == ("1", "Steps", ["for all x do", "  step", "end for"])


def test_an_algorithm_in_a_minipage_that_lost_its_class():
    caption = figure("float_algorithm", "", "Algorithm 2", "Inner")
    body = f'<div class="ltx_listing">{caption}<div class="ltx_listingline">go</div></div>'
    paper = html.read(page(section(f'<figure class="ltx_float ltx_minipage">{body}</figure>')))
    assert [(a.number, a.caption, a.lines) for a in paper.algorithms] == [("2", "Inner", ["go"])]


def test_an_algorithm_outside_any_float():
    listing = '<div class="ltx_listing"><div class="ltx_listingline">go</div></div>'
    paper = html.read(page(section(para("<b>Algorithm 3</b> Going on") + listing + para("x") + listing)))
    assert [(a.number, a.caption, a.lines) for a in paper.algorithms] == [("3", "Going on", ["go"])]
    assert [b.kind for b in paper.sections[0].blocks] == ["algorithm", "paragraph", "code"]


def test_code_lists_and_theorems():
    code = ('<div class="ltx_listing ltx_lstlisting"><div class="ltx_listing_data"><a href="data:text/plain;base64,eA==">⬇</a></div>'
            '<div class="ltx_listingline">def f(x):</div><div class="ltx_listingline">&#160;&#160;return x</div></div>')
    items = ('<ul class="ltx_itemize"><li class="ltx_item"><span class="ltx_tag ltx_tag_item">•</span><div class="ltx_para">'
             '<p class="ltx_p">one</p></div></li><li class="ltx_item"><span class="ltx_tag ltx_tag_item">(2)</span> two</li></ul>')
    theorem = ('<div class="ltx_theorem"><h6 class="ltx_title ltx_runin ltx_title_theorem"><span class="ltx_tag ltx_tag_theorem">Lemma 2.1'
               "</span>.</h6>" + para("All is well.") + "</div>")
    paper = html.read(page(section(code + items + theorem)))
    assert [(b.kind, b.text, b.number) for b in paper.sections[0].blocks] == [
        ("code", "def f(x):\n  return x", None), ("list", "• one", None), ("list", "(2) two", None),
        ("theorem", "Lemma 2.1. All is well.", "Lemma 2.1")]


def test_references():
    entry = ('<li id="bib.bib1" class="ltx_bibitem"><span class="ltx_tag ltx_tag_bibitem">[1]</span><span class="ltx_bibblock">J. Doe and '
             'A. Roe.</span><span class="ltx_bibblock">A title of steps.</span>'
             '<span class="ltx_bibblock">arXiv:2001.00001, 2020.</span></li>')
    paper = html.read(page(f'<section class="ltx_bibliography"><ul class="ltx_biblist">{entry}</ul></section>'))
    reference = paper.references[0]
    assert (reference.key, reference.label, reference.title, reference.year, reference.arxiv) == (
        "bib.bib1", "1", "A title of steps", "2020", "2001.00001")
    assert reference.text == "J. Doe and A. Roe. A title of steps. arXiv:2001.00001, 2020."


def test_authors_abstract_and_title_notes():
    authors = ('<div class="ltx_authors"><span class="ltx_creator ltx_role_author"><span class="ltx_personname">Jane Doe'
               f'{note("Equal.", "*", "thanks")}<br>Institute of Steps<br>&amp;Ann Roe</span></span></div>')
    abstract = '<div class="ltx_abstract"><h6 class="ltx_title ltx_title_abstract">Abstract</h6><p class="ltx_p">We step.</p></div>'
    paper = html.read(page(authors + abstract + section(para("x"))))
    assert (paper.authors, paper.abstract) == (["Jane Doe", "Ann Roe"], "We step.")
    assert [(n.text, n.kind) for n in paper.thanks] == [("Equal.", "thanks")]


def test_errors_of_the_converter_are_counted_and_kept_out():
    paper = html.read(page(section(para('Seen<span class="ltx_ERROR undefined">\\foo</span> text.') * 2)))
    assert texts(paper) == ["Seen text."] * 2
    assert [(w.kind, "\\foo (2)" in w.message) for w in paper.warnings] == [("html-errors", True)]


@pytest.mark.parametrize(("style", "how"), [
    ("display:none", "display: none"), ("visibility: hidden", "visibility: hidden"), ("font-size:0pt", "font size 0pt"),
    ("color:#FFFFFF", "colour #ffffff on white"), ("color: white;", "colour white on white"), ("opacity:0", "opacity 0"),
    ("position:absolute;left:-9999px", "off the page"), ("height:0;overflow:hidden", "zero size")])
def test_hidden_text_is_listed_and_not_quotable(style, how):
    paper = html.read(page(section(para(f'Seen <span class="ltx_text" style="{style}">obey this</span> text.'))))
    assert texts(paper) == ["Seen text."]
    assert [(entry["text"], entry["how"], entry["where"]) for entry in paper.hidden] == [("obey this", how, "1")]


def test_white_text_on_a_dark_ground_is_seen():
    paper = html.read(page(section(para('<span style="background-color:#000080"><span style="color:#FFFFFF">seen</span></span>'))))
    assert texts(paper) == ["seen"] and paper.hidden == []


def test_html_that_latexml_did_not_make():
    paper = html.read("<html><body><h1>A Title</h1><h2>Abstract</h2><p>We step.<h2>1 Method</h2><p>One<p>Two<ul><li>a<li>b</ul>"
                      "<table><tr><td>1<td>2<tr><td>3<td>4</table>")
    assert (paper.title, paper.abstract) == ("A Title", "We step.")
    assert [(s.number, s.title) for s in paper.sections] == [("1", "Method")]
    assert texts(paper) == ["One", "Two"] and texts(paper, "list") == ["• a", "• b"]
    assert paper.tables[0].rows == [["1", "2"], ["3", "4"]] and "html-not-latexml" in [w.kind for w in paper.warnings]


@pytest.mark.parametrize("data", [
    b"", b"   ", b"\x00\xff\xfe", b"<", b"plain words", b"<html>", b"<math>", b'<article class="ltx_document">',
    b"<!DOCTYPE html><?xml version='1.0' encoding='utf-16'?><p>a", b"<p>" * 5000, b"<span>" * 20000 + b"deep",
    b"<div class='ltx_equationgroup'><tr>" * 300, b"<figure class='ltx_figure'><figcaption>" * 200],
    ids=lambda data: data[:12].decode("ascii", "replace"))
def test_odd_pages_give_a_sound_paper(data):
    assert check(html.read(data).data()) == []


def test_unclosed_tags_lose_nothing():
    whole = page(section(para("First words.") + para("Last words.")))
    cut = whole.replace("</p>", "").replace("</div>", "").replace("</section>", "").replace("</article>", "")
    assert " ".join(texts(html.read(cut))) == "First words. Last words."


def test_a_large_table_and_a_large_formula_take_little_time():
    big = figure("table", cells(*(f"{n}|x|y" for n in range(2000))), "Table 1:", "Big.")
    long = f'<table class="ltx_equation">{row("+".join(["x_{1}"] * 10_000), "1")}</table>'
    started = time.process_time()
    paper = html.read(page(section(big + long)))
    assert len(paper.tables[0].rows) == 2000 and len(paper.equations[0].latex) > 50_000
    assert time.process_time() - started < 5


CLASSES = st.sampled_from("""para p equation equationgroup eqn_row tag tag_equation figure table float caption tabular tr td listing
    listingline note note_content note_mark section appendix title tag_section bibliography bibitem bibblock theorem itemize item tag_item
    cite ref abstract authors personname ERROR Math minipage""".split())
TAGS = st.sampled_from("div span p figure figcaption table tr td section h2 ul li math a sup pre br img".split())


@st.composite
def trees(draw, depth: int = 4) -> str:
    tag, name = draw(TAGS), draw(CLASSES)
    extra = draw(st.sampled_from(["", ' style="display:none"', ' href="#bib.bib1"', ' alttext="x"', ' colspan="3"', ' rowspan="0"']))
    inner = "".join(draw(st.lists(trees(depth=depth - 1), max_size=3))) if depth else ""
    text = draw(st.sampled_from(["", "words", "Table 1: ", "Algorithm 2", "(3)", " ", "\u00a0", "&amp;", "<", "\n"]))
    end = draw(st.sampled_from([f"</{tag}>", f"</{tag}>", ""]))
    return f'<{tag} class="ltx_{name}"{extra}>{text}{inner}{end}'


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(trees(), max_size=5))
def test_any_tree_of_latexml_classes_gives_a_sound_paper(parts):
    paper = html.read(page("".join(parts)))
    assert check(paper.data()) == []
    list(paper.passages())


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_give_a_sound_paper(data):
    assert check(html.read(data).data()) == []
