"""Gate 1: a sound workspace passes, and each point of the checklist fails when it should."""

import json
import shutil

import pytest
from paper2code import cli, files
from paper2code.acquire import provenance
from paper2code.acquire.local import tree_hash
from paper2code.acquire.provenance import Entry
from paper2code.check import stage1
from paper2code.findings import errors
from paper2code.paper import Block, Paper, Reference
from paper2code.show import views
from paper2code.workspace import Job, Workspace
from standin import PROSE
from test_acquisition_views import paper


def sound() -> Paper:
    out = paper()
    out.abstract = PROSE
    out.sections[1].blocks[0].text = PROSE * 6
    return out


def lay(tmp_path, document: Paper) -> Workspace:
    work = Workspace(tmp_path / "work")
    work.raw.mkdir(parents=True)
    (work.raw / "source.tex").write_text("x", encoding="utf-8")
    work.save_job(Job("2101.00001v2", "2101.00001"))
    provenance.write(work.provenance, [Entry("source", "source.tex", sha256=files.sha256(b"x"), size=1)], {})
    views.write(document, work)
    files.write(work.evidence / "training.md", "x")
    files.write_json(work.metadata, {"official_code": [{"url": "https://example.org/x"}]})
    return work


def test_a_sound_workspace_passes(tmp_path):
    findings, counts = stage1.check(lay(tmp_path, sound()))
    assert errors(findings) == []
    assert (counts["sections"], counts["numbered_equations"], counts["appendix_sections"], counts["pages"]) == (4, 2, 1, 9)
    assert counts["words"] > 500


def change(**fields):
    def harm(document: Paper) -> None:
        for name, value in fields.items():
            setattr(document, name, value)
    return harm


def say(text: str):
    return lambda document: document.sections[1].blocks.append(Block("paragraph", text))


def no_headings(document: Paper) -> None:
    del document.sections[1:]
    document.sections[0].blocks[0].text = PROSE * 8
    for items in (document.equations, document.algorithms, document.tables, document.figures, document.footnotes):
        items.clear()
    document.sections[0].blocks[1:] = []


DOCUMENTS = {
    "title": (change(title=""), "error"), "abstract": (change(abstract="Too short."), "error"),
    "references": (change(references=[]), "error"), "headings": (no_headings, "error"),
    "method": (lambda p: setattr(p.sections[1].blocks[0], "text", "We average."), "error"),
    "garbled": (lambda p: p.warn("garbled", "half of it is (cid:3)", "2"), "error"),
    "equations": (lambda p: (p.equations.clear(), p.sections[1].blocks.__delitem__(1), say("By Equation (4), it holds.")(p)), "error"),
    "equation-not-found": (say("as Eq. (7) says"), "warning"), "table-not-found": (say("see Table 5"), "warning"),
    "figure-not-found": (say("see Figure 12"), "warning"), "algorithm-not-found": (say("Algorithm 3 does it"), "warning"),
    "appendices": (say("proved in Appendix F"), "warning"), "algorithm-empty": (lambda p: p.algorithms[0].lines.clear(), "warning"),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_point_can_fail(tmp_path, name):
    harm, severity = DOCUMENTS[name]
    document = sound()
    harm(document)
    findings, _ = stage1.check(lay(tmp_path, document))
    found = [finding for finding in findings if finding.check == name]
    assert [finding.severity for finding in found] == [severity]
    assert all(finding.fix for finding in findings), "every finding has a remedy"


def test_garbled_related_work_is_no_reason_to_stop(tmp_path):
    document = sound()
    document.sections[0].title = "Related Work"
    document.warn("garbled", "glyphs lost", "1")
    findings, _ = stage1.check(lay(tmp_path, document))
    assert errors(findings) == [] and any(finding.check == "garbled" for finding in findings)


WORKSPACES = {
    "output-missing": lambda work: work.outline.unlink(), "output-missing ": lambda work: shutil.rmtree(work.sections),
    "output-missing  ": lambda work: work.footnotes.write_text("", encoding="utf-8"),
    "raw-changed": lambda work: (work.raw / "source.tex").write_text("y", encoding="utf-8"),
    "provenance": lambda work: work.provenance.unlink(), "provenance ": lambda work: work.provenance.write_text("{}", encoding="utf-8"),
    "provenance  ": lambda work: work.provenance.write_text('{"files": []}', encoding="utf-8"),
    "official-code": lambda work: work.metadata.write_text("{}", encoding="utf-8"),
    "paper-json": lambda work: work.paper_file.write_text("{", encoding="utf-8"),
}


@pytest.mark.parametrize("name", WORKSPACES)
def test_a_torn_workspace_fails(tmp_path, name):
    work = lay(tmp_path, sound())
    WORKSPACES[name](work)
    findings, _ = stage1.check(work)
    assert name.strip() in [finding.check for finding in errors(findings)]


def test_no_workspace_at_all(tmp_path):
    with pytest.raises(cli.Stop) as stop:
        stage1.check(Workspace(tmp_path))
    assert stop.value.code == cli.USAGE


def test_code_that_was_looked_for_and_not_found_is_told(tmp_path):
    work = lay(tmp_path, sound())
    files.write_json(work.metadata, {"official_code": []})
    findings, _ = stage1.check(work)
    assert errors(findings) == [] and "official-code" in [finding.check for finding in findings]
    assert json.loads(work.metadata.read_text(encoding="utf-8")) == {"official_code": []}


def test_references_are_enough_when_there_is_one(tmp_path):
    document = sound()
    document.references = [Reference("one", "A. Author. 2001.")]
    assert errors(stage1.check(lay(tmp_path, document))[0]) == []


@pytest.mark.parametrize("name", ["abstract", "headings", "equations", "references"])
def test_what_a_paper_really_has_not_can_be_accepted(tmp_path, name):
    document = sound()
    DOCUMENTS[name][0](document)
    work = lay(tmp_path, document)
    findings, _ = stage1.check(work)
    assert f"--without {name}" in next(finding.fix for finding in findings if finding.check == name)
    work.save_job(Job("2101.00001v2", "2101.00001", without=[name]))
    findings, _ = stage1.check(work)
    assert errors(findings) == [] and any(finding.check == name and "accepted" in finding.message for finding in findings)


def test_a_garbled_method_cannot_be_accepted(tmp_path):
    document = sound()
    document.warn("garbled", "glyphs lost", "2")
    work = lay(tmp_path, document)
    work.save_job(Job("2101.00001v2", "2101.00001", without=["references"]))
    assert errors(stage1.check(work)[0])
    work.save_job(Job("2101.00001v2", "2101.00001", without=["garbled", "method", "title"]))
    with pytest.raises(cli.Stop, match="job.json cannot be used"):
        stage1.check(work)


def test_a_folder_that_was_read_is_held_to_its_hash(tmp_path):
    work = lay(tmp_path, sound())
    files.write(work.raw / "source" / "main.tex", "A")
    provenance.write(work.provenance, [Entry("source", "source", sha256=tree_hash(work.raw / "source"))], {})
    assert errors(stage1.check(work)[0]) == []
    files.write(work.raw / "source" / "main.tex", "B")
    assert [finding.check for finding in errors(stage1.check(work)[0])] == ["raw-changed"]
