"""The HTML reader on small pages in LaTeXML's vocabulary, written for these tests."""

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
