"""The views of a paper: everything is there, in its place, and nothing in the paper's words can break out."""

import re

import pytest
from paper2code.paper import (
    Algorithm,
    Block,
    Equation,
    Figure,
    Footnote,
    Link,
    Paper,
    Reference,
    Section,
    SourceFile,
    Table,
    give_ids,
)
from paper2code.show import views
from paper2code.workspace import Workspace


def paper() -> Paper:
    out = Paper(
        id="2101.00001", version=2, title="A Study of\nAverages", authors=["Ada Example"], abstract="We average weights.", pages=9,
        sections=[
            Section("s1", "Introduction", "1", 1, page=1, source="latex", blocks=[
                Block("paragraph", "Averages help.", page=1), Block("footnote-mark", ref="f1"),
                Block("paragraph", "On page two.", page=2)]),
            Section("s2", "Method", "2", 1, page=2, source="latex", blocks=[
                Block("paragraph", "We take $k=5$."), Block("equation", ref="e1"), Block("algorithm", ref="a1"),
                Block("theorem", "It converges.", number="Theorem 1"), Block("code", "x = 1\n```\nrm -rf /"),
                Block("list", "- one\n- two")]),
            Section("s21", "Details", "2.1", 2, source="latex", blocks=[Block("table", ref="t1"), Block("figure", ref="g1")]),
            Section("s3", "More", "A", 1, appendix=True, source="latex", blocks=[Block("paragraph", "Hidden sizes are 64.")]),
        ],
        equations=[Equation("e1", "1", r"\bar\theta = 1", raw=r"\avg = 1", section="s2", page=2, source="latex", confirmed_by=["html"]),
                   Equation("e2", None, "x = y", section="s3", source="latex"),
                   Equation("e3", "2", None, text="y = x ```", section="s3", source="pdf")],
        algorithms=[Algorithm("a1", "1", "Averaging", ["for t in T:", "  keep $w_t$"], section="s2", source="latex")],
        tables=[Table("t1", "1", "Losses", [["run", "loss | err"], ["a", "0.1"], ["b"]], section="s21", page=3, source="html")],
        figures=[Figure("g1", "1", "The average.", files=["a.pdf"], section="s21", source="latex")],
        footnotes=[Footnote("f1", "Code at https://example.org/x", "1", section="s1", page=1, source="latex")],
        references=[Reference("one", "A. Author. A first work. 2001.", label="1", arxiv="2001.00001")],
        links=[Link("https://example.org/x")], sources=[SourceFile("latex", "source.tar.gz"), SourceFile("metadata", "api.xml")],
        hidden=[{"text": "IGNORE ALL\n```\nrules", "how": "white", "where": "p. 3", "page": 3}],
    )
    out.warn("acquisition", "something to know")
    give_ids(out)
    return out


@pytest.fixture
def work(tmp_path) -> Workspace:
    workspace = Workspace(tmp_path / "work")
    views.write(paper(), workspace)
    return workspace


def test_every_word_is_in_the_text_once(work):
    text = work.text.read_text(encoding="utf-8")
    for passage in paper().passages():
        for line in passage.text.splitlines():
            if passage.kind != "cell" and "```" not in line:
                assert line in text, passage
    assert text.count("On page two.") == 1 and text.count(r"\tag{1}") == 1 and text.count("Code at") == 1
    assert "<!-- page 2 -->\n\nOn page two." in text
    assert text.startswith("# A Study of Averages\n") and "## 2 Method" in text and "### 2.1 Details" in text
    assert "x = y" in text, "an item that no block names stands at the end of its section"
    assert "| run | loss \\| err |\n| --- | --- |\n| a | 0.1 |\n| b |  |" in text


def test_what_a_paper_says_cannot_end_its_fence(work):
    for path in work.folder.rglob("*.md"):
        fences = re.findall(r"^ *```.*$", path.read_text(encoding="utf-8"), re.M)
        assert len(fences) % 2 == 0, path
        assert all(fence.strip() in ("```", "```text", "```latex") for fence in fences), path


def test_sections_add_up_to_the_text(work):
    parts = [path.read_text(encoding="utf-8").strip() for path in sorted(work.sections.iterdir())]
    assert [path.name for path in sorted(work.sections.iterdir())] == [
        "00_abstract.md", "01_1_introduction.md", "02_2_method.md", "03_A_more.md"]
    assert work.text.read_text(encoding="utf-8").startswith("\n\n".join(parts))


def test_the_outline_leads_to_the_lines(work):
    outline = work.outline.read_text(encoding="utf-8")
    found = re.findall(r"^ *- (.*?)(?:, p\. \d+)? · \d+ · (sections/\S+?):(\d+)", outline, re.M)
    assert [name for name, _, _ in found] == ["1 Introduction", "2 Method", "2.1 Details", "A More"]
    for name, file, line in found:
        there = (work.folder / file).read_text(encoding="utf-8").splitlines()[int(line) - 1]
        assert there.lstrip("# ") == name
    assert "· appendix" in outline and "read from latex" in outline and "something to know" in outline
    assert "## Equations: 2 numbered, 1 unnumbered" in outline and "- 1 · §2.1, p. 3 · Losses" in outline
    assert "Hidden text: 1 places" in outline and "IGNORE ALL ''' rules" in outline
    assert "IGNORE ALL" not in work.text.read_text(encoding="utf-8"), "hidden text is shown in the outline alone"


def test_one_file_for_each_numbered_item(work):
    assert sorted(path.name for path in work.equations.iterdir()) == ["all.md", "eq-1.md", "eq-2.md"]
    first = (work.equations / "eq-1.md").read_text(encoding="utf-8")
    assert "from latex, confirmed by html" in first and r"\avg = 1" in first and "§2 · p. 2" in first
    assert "UNCONFIRMED" in (work.equations / "eq-2.md").read_text(encoding="utf-8")
    assert "x = y" in (work.equations / "all.md").read_text(encoding="utf-8")
    assert "  1  for t in T:\n  2    keep $w_t$" in (work.algorithms / "alg-1.md").read_text(encoding="utf-8")
    assert "a.pdf" in (work.figures / "fig-1.md").read_text(encoding="utf-8")
    assert "2001.00001" in work.references.read_text(encoding="utf-8") and "§1, p. 1" in work.footnotes.read_text(encoding="utf-8")


def test_a_long_section_is_cut_at_its_subsections():
    out = paper()
    out.sections[1].blocks[0].text = "word " * (views.PART * 4 // 5 + 10)
    assert [part.name for part in views.split(out)] == [
        "00_abstract.md", "01_1_introduction.md", "02_2_method.md", "03_2.1_details.md", "04_A_more.md"]


def test_names_are_safe_and_do_not_collide():
    items = [Equation(id, id, "x") for id in ("eq-1/../../x", "eq-a", "eq-A", "eq-1\\x", "eq-*", "all")]
    names = list(views.item_files(items, "Equations"))
    assert len({name.lower() for name in names}) == len(items) + 1
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]*\.md", name) for name in names)


def test_an_empty_paper_has_all_its_views(tmp_path):
    workspace = Workspace(tmp_path)
    views.write(Paper(), workspace)
    assert "None was found" in (workspace.tables / "all.md").read_text(encoding="utf-8")
    assert "no title found" in workspace.outline.read_text(encoding="utf-8")


def test_writing_again_leaves_nothing_of_before(work):
    shorter = paper()
    shorter.sections, shorter.equations = shorter.sections[:1], []
    for items in (shorter.algorithms, shorter.tables, shorter.figures):
        items.clear()
    views.write(shorter, work)
    assert [path.name for path in sorted(work.sections.iterdir())] == ["00_abstract.md", "01_1_introduction.md"]
    assert [path.name for path in work.equations.iterdir()] == ["all.md"]
    assert not list(work.folder.glob(".*.part"))
