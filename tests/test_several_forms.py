"""A folder that holds one paper as PDF, HTML and LaTeX is read from all of them; other folders are what they were."""

from conftest import ROOT
from paper2code.acquire import local
from paper2code.read import open as reading

PAPER = ROOT / "examples" / "staggered_gates" / "paper"


def test_roles_of_a_folder():
    assert set(local.several(PAPER)) == {"pdf", "html", "source"}
    assert local.role(PAPER)[0] == "several"
    assert local.role(PAPER, "pdf")[0] == "pdf" and local.role(PAPER, "latex")[0] == "source"
    assert local.several(PAPER / "source") == {} and local.role(PAPER / "source")[0] == "source"
    assert local.several(PAPER / "paper.pdf") == {}


def test_each_form_is_read(tmp_path):
    paper = reading.open_paper(PAPER, say=lambda line: None)
    assert {source.role for source in paper.sources} >= {"latex", "html", "pdf"} or {e.source for e in paper.equations} == {"latex"}
    assert paper.pages == 4 and all(equation.latex for equation in paper.equations)
    assert sum(equation.page is not None for equation in paper.equations if equation.number) >= 8
    alone = reading.open_paper(PAPER, "html", say=lambda line: None)
    assert alone.pages is None
