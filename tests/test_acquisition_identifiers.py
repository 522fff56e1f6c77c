"""Every form in which people name a paper, and every one that is refused before any network call."""

from datetime import datetime, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paper2code import cli
from paper2code.acquire import identifiers
from paper2code.acquire.identifiers import ArxivId, either, parse

TODAY = datetime(2026, 6, 15, tzinfo=timezone.utc)
GOOD = {
    "2106.09685": "2106.09685", "2106.09685v2": "2106.09685v2", " 2106.09685 ": "2106.09685", "1412.6980": "1412.6980",
    "0704.0001v12": "0704.0001v12", "1501.00001": "1501.00001", "2106.09685V2": "2106.09685v2",
    "cs/0601007": "cs/0601007", "math.GT/0309136": "math/0309136", "math.GT/0309136v3": "math/0309136v3",
    "quant-ph/9802040": "quant-ph/9802040", "cond-mat.mes-hall/0703001": "cond-mat/0703001", "hep-th/9108001": "hep-th/9108001",
    "arXiv:2106.09685": "2106.09685", "arxiv: 2106.09685v1": "2106.09685v1", "arXiv:cs/0601007": "cs/0601007",
    "arXiv:2106.09685v2 [cs.CL]": "2106.09685v2", "arXiv:2106.09685v2 [cs.CL] 16 Oct 2021": "2106.09685v2",
    "https://arxiv.org/abs/2106.09685": "2106.09685", "http://arxiv.org/abs/2106.09685v2/": "2106.09685v2",
    "https://arxiv.org/pdf/2106.09685": "2106.09685", "https://arxiv.org/pdf/2106.09685v2.pdf": "2106.09685v2",
    "https://arxiv.org/html/2106.09685v2": "2106.09685v2", "https://arxiv.org/html/2106.09685v2/S3.html": "2106.09685v2",
    "https://arxiv.org/src/2106.09685": "2106.09685", "https://arxiv.org/e-print/2106.09685v1": "2106.09685v1",
    "https://arxiv.org/format/cs/0601007": "cs/0601007", "https://arxiv.org/abs/math.GT/0309136": "math/0309136",
    "https://www.arxiv.org/abs/2106.09685": "2106.09685", "https://export.arxiv.org/abs/2106.09685": "2106.09685",
    "http://export.arxiv.org/pdf/cs/0601007v1.pdf": "cs/0601007v1", "https://de.arxiv.org/abs/2106.09685": "2106.09685",
    "https://arxiv.org/abs/2106.09685?context=cs.LG#top": "2106.09685", "arxiv.org/abs/2106.09685": "2106.09685",
    "https://arxiv.org/abs/cs%2F0601007": "cs/0601007", "<https://arxiv.org/abs/2106.09685>": "2106.09685",
    "https://ar5iv.labs.arxiv.org/html/2106.09685": "2106.09685", "https://ar5iv.org/abs/cs/0601007": "cs/0601007",
    "https://www.alphaxiv.org/abs/2106.09685v2": "2106.09685v2", "https://alphaxiv.org/overview/2106.09685": "2106.09685",
    "https://huggingface.co/papers/2106.09685": "2106.09685", "huggingface.co/papers/2106.09685": "2106.09685",
    "10.48550/arXiv.2106.09685": "2106.09685", "https://doi.org/10.48550/arXiv.2106.09685": "2106.09685",
    "doi:10.48550/ARXIV.cs/0601007": "cs/0601007", "2106.09685.pdf": "2106.09685",
}
BAD = {
    "2113.09685": "no month 13", "2100.09685": "no month 00", "2106.096851": "5 digits after the dot, not 6", "2106.0968": "5 digits",
    "1412.06980": "4 digits after the dot, not 5", "0703.0001": "before April 2007", "2606.00000": "zero", "2701.00001": "not come yet",
    "2106.09685v0": "no version 0", "cs/060100": "7 digits", "cs/06010071": "7 digits", "cs/0613007": "no month 13", "cs/0704001":
    "to March 2007", "hep-th/9106001": "from August 1991", "xx/0601007": "never had an archive", "stat/0601007": "never had an archive",
    "210609685": "neither an arXiv id nor", "lora": "neither an arXiv id nor", "": "names no paper", "   ": "names no paper",
    "https://example.org/abs/2106.09685": "address at example.org", "https://arxiv.org.example.org/abs/2106.09685": "address at",
    "https://arxiv.org/abs/": "without a paper's id", "https://arxiv.org/list/cs.LG/recent": "neither", "https://arxiv.org/":
    "without a paper's id", "https://huggingface.co/models/2106.09685": "without a paper's id", "2106.09685\0": "names no paper",
    "２１０６.09685": "neither", "https://github.com/microsoft/LoRA": "address at github.com", "2106.09685v1v2": "neither",
}


@pytest.mark.parametrize("asked", GOOD)
def test_taken(asked):
    assert str(parse(asked, today=TODAY)) == GOOD[asked]
    assert str(either(asked)) == GOOD[asked]


@pytest.mark.parametrize("asked", BAD)
def test_refused_with_the_reason(asked):
    with pytest.raises(cli.Stop) as stop:
        parse(asked, today=TODAY) if asked.strip("\0 ") == asked and asked else either(asked)
    assert stop.value.code == cli.USAGE
    assert BAD[asked] in stop.value.message
    assert "2106.09685" in stop.value.expected, "the forms taken are told"


def test_ids_of_one_number_do_not_collide():
    folders = {parse(text).folder for text in ("cs/0601007", "math/0601007", "quant-ph/0601007", "0601.0071".replace("0601", "0801"))}
    assert len(folders) == 4
    assert all("/" not in folder and "\\" not in folder for folder in folders)
    assert parse("math.GT/0309136") == parse("math/0309136"), "one paper, one folder"


CALM = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a machine may be busy


@CALM
@given(st.integers(2015, 2025), st.integers(1, 12), st.integers(1, 99999), st.one_of(st.none(), st.integers(1, 99)),
       st.sampled_from(["{}", "arXiv:{}", "https://arxiv.org/abs/{}", "https://arxiv.org/pdf/{}.pdf", "10.48550/arXiv.{}",
                        "https://ar5iv.labs.arxiv.org/html/{}", "https://huggingface.co/papers/{}"]))
def test_every_form_says_the_same(year, month, number, version, form):
    paper = ArxivId(f"{year % 100:02d}{month:02d}.{number:05d}", version)
    assert parse(form.format(paper)) == paper


@CALM
@given(st.text(max_size=60))
def test_no_text_breaks_it(text):
    try:
        found = parse(text)
    except cli.Stop as stop:
        assert stop.code == cli.USAGE
    else:
        assert identifiers.exact(str(found)) == found


def test_local_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "paper.pdf").write_bytes(b"%PDF-")
    (tmp_path / "2106.09685").mkdir()
    (tmp_path / "cs").mkdir()
    (tmp_path / "cs" / "notes.md").write_text("x", encoding="utf-8")
    assert either("paper.pdf").name == "paper.pdf"
    assert either("cs/notes.md").name == "notes.md"
    assert either("2106.09685") == ArxivId("2106.09685"), "a bare id is an id"
    assert either("./2106.09685").is_dir(), "a path is a path"
    for name in ("missing.pdf", "./missing", "folder/missing.tex", "~/surely-not-there.md", "x" * 5000 + ".tex"):
        with pytest.raises(cli.Stop, match="there is no file"):
            either(name)
