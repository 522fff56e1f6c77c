"""Works named in a result are held against the paper's own bibliography."""

import pytest
from paper2code.check.references import check
from paper2code.paper import Paper, Reference


@pytest.fixture
def paper():
    return Paper(id="2001.00001v2", title="Mine", authors=["Ada Own", "Bo Self"], references=[
        Reference("a", "D. Kingma and J. Ba. Adam: A method for stochastic optimization. arXiv:1412.6980, 2014.", arxiv="1412.6980",
                  title="Adam: A method for stochastic optimization", year="2014"),
        Reference("b", "J. Ba, J. Kiros, G. Hinton. Layer normalization. arXiv:1607.06450, 2016.", arxiv="1607.06450",
                  title="Layer normalization", year="2016"),
        Reference("c", "P. Müller et al. Some journal paper on widgets. Journal, 2010.", title="Some journal paper on widgets", year="2010")])


@pytest.mark.parametrize("text, checks", [
    ("# Adam, arXiv:1412.6980 (Kingma & Ba, 2014)", []),
    ("# the paper itself, https://arxiv.org/abs/2001.00001", []),
    ("# Own and Self (2020) say so", []),
    ("# Müller et al., 2010", []),
    ('# "Adam: a method for stochastic optimization" (arXiv:1412.6980)', []),
    ('# "Attention with sparse random matrices" (arXiv:1412.6980)', ["reference-mismatch"]),
    ('# "Layer Normalization" is nice: "Adam: A Method for Stochastic Optimization", arXiv:1999.12345', ["reference-mismatch"]),
    ("# see arXiv:1999.12345", ["reference-unknown"]),
    ("# Kingma & Ba, 2017", ["reference-unknown"]),
    ("# Invented et al. (2014)", ["reference-unknown"]),
])
def test_works_named(tmp_path, paper, text, checks):
    (tmp_path / "model.py").write_text(f"x = 1\n{text}\n", encoding="utf-8")
    findings = check(tmp_path, paper)
    assert [finding.check for finding in findings] == checks
    assert all((finding.file, finding.line) == ("model.py", 2) and finding.fix for finding in findings)


def test_nothing_is_said_where_the_bibliography_was_not_read(tmp_path, paper):
    (tmp_path / "a.md").write_text("arXiv:1999.12345 and Nobody et al. (1999)", encoding="utf-8")
    assert check(tmp_path, Paper(references=paper.references[:1])) == []
