"""Files of any form → one paper: what happens when a reader fails, when a text is garbled, and when only a section is."""

import copy

import pytest
from paper2code import cli
from paper2code.acquire import local
from paper2code.paper import Block, Paper, Section, give_ids
from paper2code.read import open as reading
from standin import ABSTRACT, PROSE, TITLE, html, lone, pdf, targz, tex

BACKWARDS = " ".join(word[::-1] for word in (PROSE * 2).split())
CID = "".join(f"(cid:{ord(char)})" for char in PROSE)


def paper(method: str = PROSE * 4, source: str = "latex", more: str = PROSE * 3) -> Paper:
    out = Paper(title=TITLE, abstract=ABSTRACT, sections=[
        Section(title, title, str(number), source=source, blocks=[Block("paragraph", text, source=source)])
        for number, (title, text) in enumerate((("Introduction", more), ("Method", method), ("Results", more)), 1)])
    give_ids(out)
    return out


@pytest.fixture
def read(monkeypatch, tmp_path):
    """`read(source=Paper, html=Stop, …)`: read_all with readers that give or raise these."""
    def run(**given):
        asked = []

        def reader(role, *, alone):
            def give(path):
                asked.append((role, alone))
                if isinstance(given[role], BaseException):
                    raise given[role]
                return copy.deepcopy(given[role])
            return give

        monkeypatch.setattr(reading, "reader", reader)
        said = []
        found, left = reading.read_all({role: tmp_path / role for role in given}, said.append)
        return found, left, asked, said
    return run


def kinds(paper: Paper) -> list[str]:
    return [warning.kind for warning in paper.warnings]


def test_a_failing_reader_is_no_failing_run(read):
    found, left, asked, said = read(source=RecursionError("deep"), html=paper(source="html"), pdf=cli.Stop("encrypted", code=4))
    assert found.title == TITLE and set(left) == {"source", "pdf"} and kinds(found).count("source-unreadable") == 2
    assert "RecursionError" in left["source"] and left["pdf"] == "encrypted"
    assert any("latex reader failed" in line for line in said)


def test_when_all_fail_each_reason_is_told(read):
    with pytest.raises(cli.Stop) as stop:
        read(source=ValueError("no document"), pdf=cli.Stop("encrypted", code=4))
    assert stop.value.code == cli.UNUSABLE and "no document" in stop.value.message and "encrypted" in stop.value.message


def test_interruption_is_never_swallowed(read):
    with pytest.raises(KeyboardInterrupt):
        read(source=KeyboardInterrupt(), html=paper())


def test_the_pdf_is_read_for_places_alone_when_something_better_was_read(read):
    assert read(source=paper(), pdf=paper(source="pdf"))[2] == [("source", True), ("pdf", False)]
    assert read(source=ValueError("x"), pdf=paper(source="pdf"))[2] == [("source", True), ("pdf", True)]


@pytest.mark.parametrize("text", [BACKWARDS, CID, "\ue001" * 900 + PROSE])
def test_a_garbled_source_gives_way_to_the_next(read, text):
    bad = paper(text, "html", text)
    found, left, _, said = read(html=bad, pdf=paper(source="pdf"))
    assert found.sections[1].blocks[0].text == PROSE * 4 and "garbled" in left["html"]
    assert "garbled" not in kinds(found), "what was read is sound"
    assert any("garbled" in line for line in said), "and the run says so"


def test_a_garbled_source_is_better_than_none_and_told(read):
    found, left, _, _ = read(pdf=paper(BACKWARDS, "pdf", BACKWARDS), html=ValueError("x"))
    assert [warning.where for warning in found.warnings if warning.kind == "garbled"] == ["1", "2", "3", None]
    assert set(left) == {"html"}
    assert found.measures["garbled"] > 0.5


def test_a_garbled_section_is_mended_from_another_source_alone(read):
    found, left, _, _ = read(source=paper(BACKWARDS), html=paper(source="html"))
    assert found.sections[1].blocks[0].text == PROSE * 4 and found.sections[1].blocks[0].source == "html"
    assert "garbled" not in kinds(found) and found.measures["garbled"] == 0
    assert found.sections[0].blocks[0].source == "latex", "the others stay as they were"
    assert [(warning.kind, warning.where) for warning in found.warnings if "mended" in warning.kind] == [("section-mended", "2")]
    assert not left


def test_a_garbled_section_that_nothing_mends_is_told(read):
    found, _, _, _ = read(source=paper(BACKWARDS), html=paper(BACKWARDS, "html"))
    assert [(warning.kind, warning.where) for warning in found.warnings if warning.kind == "garbled"] == [("garbled", "2")]
    assert found.measures["garbled"] == 0.25, "the share of the words that cannot be read"


def test_what_the_pdf_garbled_is_told_only_where_its_words_are_used(read):
    printed = paper(source="pdf")
    printed.pages = 3
    printed.sections[1].blocks[0].page = 2
    printed.warn("garbled", "page 2 is garbled: (cid:3)", "page 2")
    assert "garbled" in kinds(read(pdf=printed)[0])
    assert "garbled" not in kinds(read(source=paper(), pdf=printed)[0])


def test_too_few_words_are_no_paper(read):
    with pytest.raises(cli.Stop, match="which is no paper"):
        read(text=Paper(title="Ten words"))
    scan = paper("x", "pdf", "y")
    scan.pages = 30
    with pytest.raises(cli.Stop, match="scanned"):
        read(pdf=scan)


@pytest.mark.parametrize(("data", "text"), [("é".encode(), "é"), ("é".encode("cp1252"), "é"), ("\ufeffé".encode(), "é"),
                                            ("é".encode("utf-16"), "é"), ("“x”".encode("cp1252"), "“x”")])
def test_text_in_any_encoding(data, text):
    assert reading.decode(data) == text


def test_local_files_of_every_form(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "main.tex").write_text(tex(), encoding="utf-8")
    forms = {"a.pdf": pdf(), "a.html": html(), "a.tex": tex().encode(), "a.tar.gz": targz({"main.tex": tex().encode()}), "a.gz": lone(tex()),
             "a.md": f"# {TITLE}\n\n## Abstract\n\n{ABSTRACT}\n\n## 1 Method\n\n{PROSE * 3}".encode()}
    for name, data in forms.items():
        (tmp_path / name).write_bytes(data)
    for name in (*forms, "folder"):
        found = reading.open_paper(tmp_path / name, say=lambda line: None)
        assert found.title == TITLE and reading.words(found) > 200, name
        assert any("Method" in section.title for section in found.sections), name
    found.save(tmp_path / "paper.json")
    assert reading.open_paper(tmp_path / "paper.json") == found


def test_the_stamp_of_arxiv_tells_which_paper_a_pdf_is(tmp_path):
    import pymupdf

    document = pymupdf.open(stream=pdf(), filetype="pdf")
    document[0].insert_text((30, 600), "arXiv:2101.00001v3  [cs.LG]  2 Jan 2021", rotate=90, fontsize=18)
    document[1].insert_text((30, 600), "arXiv:1902.00001v1  [cs.LG]  2 Jan 2019", fontsize=8)
    document.save(tmp_path / "stamped.pdf")
    (tmp_path / "plain.pdf").write_bytes(pdf())
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    assert str(local.stamp(tmp_path / "stamped.pdf")) == "2101.00001v3"
    assert local.stamp(tmp_path / "plain.pdf") is None and local.stamp(tmp_path / "broken.pdf") is None
