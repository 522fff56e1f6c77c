"""The evidence report: what it holds, that nothing in it can be turned against its reader, and what it does in a real browser."""

import json
import os
import re
import shutil
import subprocess
import sys
import time

import pytest
from conftest import ROOT
from paper2code.paper import Algorithm, Block, Equation, Figure, Footnote, Paper, Section, Table, give_ids
from paper2code.show import lock, mathml, report

CHROMIUM = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)> ${7*7} {{7*7}} \u202e"


def small_paper(**changes):
    paper = Paper(
        id="2401.00001", version=2, title="A Small Paper", authors=["A. B."], abstract="We train with a rate of 0.1.", pages=2,
        sections=[
            Section("m", "Method", "1", blocks=[
                Block("paragraph", "We use a learning rate of $10^{-3}$ and a width of 64.", page=1, bbox=[72, 100, 500, 130]),
                Block("equation", ref="e"), Block("paragraph", "The loss is summed over classes.")]),
            Section("a", "Details", "A", appendix=True, blocks=[Block("table", ref="t")]),
        ],
        equations=[Equation("e", "1", r"y = \frac{a}{b} + \mathbf{W}x", section="m")],
        algorithms=[Algorithm("al", "1", "Training", ["for $t$ in steps do", "  update $w$"], section="m")],
        tables=[Table("t", "1", "Settings.", [["width", "64"], ["rate", "0.001"]], section="a")],
        figures=[Figure("f", "1", "The model.", section="m")], footnotes=[Footnote("n", "See the appendix.", "1", section="m")],
    )
    for name, value in changes.items():
        setattr(paper, name, value)
    give_ids(paper)
    return paper


@pytest.fixture
def made(tmp_path):
    """`made(paper=…, files={…})` → (result folder, paper.json)."""
    def make(paper=None, files=None):
        root, source = tmp_path / "result", tmp_path / "paper.json"
        (paper or small_paper()).save(source)
        content = files or {
            "configs/base.yaml": 'model:\n  width: 64  # §1 — "a width of 64"\ntraining:\n  rate: 0.001  # §1 — "a learning rate of $10^{-3}$"\n',
            "src/model.py": '"""The model.\n\n§1, Eq. 1 — y = a/b + Wx\n"""\n\n# §1 — "a width of 65"\nWIDTH = None\n# [UNSPECIFIED] the seed\n#   Using: 0\n'
                            "#   Alternatives: 1\n",
        }
        for name, text in content.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        return root, source
    return make


def test_links_lead_both_ways(made):
    page = report.gather(*made())
    html = report.html(page)
    states = {(link.file, link.state) for link in page.links}
    assert ("configs/base.yaml", "verified") in states and ("src/model.py", "altered") in states and ("src/model.py", "UNSPECIFIED") in states
    ids = set(re.findall(r'\bid="([^"]+)"', html))
    targets = set(re.findall(r'href="#([^"]+)"', html))
    assert targets and not targets - ids, targets - ids
    for link in page.links:
        assert link.code_id in ids
        if link.target:
            assert link.target in ids
    quoted = next(link for link in page.links if link.quote == "a width of 64")
    assert quoted.target == next(piece.id for section in page.sections for piece in section["pieces"] if "width of 64" in piece.html)
    state, sentence = page.verdict()
    assert state == "flawed" and "1 of" in sentence


def test_matrix_says_what_is_implemented(made):
    rows = {row["label"]: row for row in report.gather(*made()).matrix}
    assert rows["Eq. 1"]["state"] == "implemented" and rows["Eq. 1"]["spots"][0][0] == "src/model.py"
    assert rows["Algorithm 1"]["state"] == "not cited"
    assert rows["§1 Method"]["state"] == "implemented" and rows["§A Details"]["state"] == "not cited"


def test_a_repository_that_cites_nothing_is_not_called_good(made):
    page = report.gather(*made(files={"src/model.py": "x = 1\n"}))
    assert page.verdict()[0] == "empty"
    assert "Nothing in this repository cites" in report.html(page)


def test_same_content_as_text_and_json(made):
    page = report.gather(*made())
    data = json.loads(json.dumps(report.data(page)))
    assert data["verdict"] == "flawed" and data["paper"]["title"] == "A Small Paper"
    assert len(data["anchors"]) == len(page.links)
    assert report.badge(page) == data["summary"]
    assert data["summary"].startswith("paper2code: 2 quotes verified, 1 wrong, 1 flagged")
    assert "equations: 1 of 1" in report.text(page)


def test_hostile_text_is_shown_and_never_run(made):
    hostile = small_paper(title=EVIL, abstract=EVIL, figures=[Figure("f", "1", EVIL, section="m")],
                          tables=[Table("t", "1", EVIL, [[EVIL]], section="a")],
                          equations=[Equation("e", "1", EVIL + r"\href{javascript:alert(1)}{x}", section="m")],
                          algorithms=[Algorithm("al", EVIL, EVIL, [EVIL], section="m")])
    hostile.sections[0].title = EVIL
    hostile.sections[0].blocks.append(Block("paragraph", f"{EVIL} $x^{{<script>alert(3)</script>}}$ $\\text{{<img src=x onerror=alert(4)>}}$"))
    html = report.html(report.gather(*made(hostile, {"src/model.py": f'"""{EVIL}\n\n§1 — "{EVIL}"\n"""\n', "README.md": EVIL})))
    body = html.split("</head>")[1]
    assert body.count("<script") == 1
    assert "<img src=x" not in body and "onerror=alert(4)>" not in re.sub(r"&lt;.*?&gt;", "", body)
    assert "49" not in re.findall(r"\{\{.*?\}\}", body) and "javascript:alert" not in re.sub(r"&[a-z#0-9]+;", "", "".join(re.findall(r"href=\"([^\"]*)", body)))
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html).group(1)
    assert "default-src 'none'" in policy and "'unsafe-inline'" not in policy.split("script-src")[1]


@pytest.mark.parametrize("latex, has", [
    (r"\frac{QK^T}{\sqrt{d_k}}", "<mfrac>"), (r"\sum_{i=1}^n x_i", "<munderover>"), (r"\mathrm{softmax}(z)", "<math"),
    (r"a &= b \\ c &= d", "<mtable"), (r"\bm{W} \label{eq:x}", "<math"),
])
def test_formulas_become_mathematics(latex, has):
    out = mathml.formula(latex, display=True)
    assert has in out, out
    assert "\\" not in re.sub(r'title="[^"]*"', "", out)


@pytest.mark.parametrize("latex", ["\\frac{", "{{{", "\\begin{aligned} x", "^", "\\unknowncommand{x}", "", "%", "\\href{javascript:1}{x}"])
def test_formulas_that_cannot_be_read_stay_as_code(latex):
    out = mathml.formula(latex)
    assert out.startswith(("<code", "<math")) and "<a" not in out and "href=" not in out


def test_text_with_dollars():
    assert mathml.text(r"costs \$5 & more") == "costs $5 &amp; more"
    assert "<math" in mathml.text("rate $\\eta$ is < 1") and "&lt; 1" in mathml.text("rate $\\eta$ is < 1")


def test_large_results_stay_small_and_fast(made):
    body = "".join(f'# §1 — "a width of 64"\nvalue_{n} = compute_{n}(x)  # (batch, width)\n' for n in range(1000))
    paper = small_paper()
    paper.sections += [Section(f"s{n}", f"Part {n}", f"{n + 2}", blocks=[
        Block("paragraph", f"Sentence {n} with $x_{{{n}}}^2 + \\alpha$ and more words " * 12) for _ in range(6)]) for n in range(30)]
    root, source = made(paper, {"src/model.py": body})
    started = time.process_time()
    html = report.html(report.gather(root, source))
    assert time.process_time() - started < 20
    assert len(html) < 3_000_000
    assert html.count('class="row') >= 2000


# --- the lock file ------------------------------------------------------------------------------------------------------


def locked(made):
    root, source = made(files={"configs/base.yaml": 'model:\n  width: 64  # §1 — "a width of 64"\n', "src/model.py": '"""§1, Eq. 1"""\n'})
    page = report.gather(root, source)
    lock.write(root, page.paper, page.outcome, source)
    return root


def test_lock_holds_places_and_no_text_of_the_paper(made):
    root = locked(made)
    text = (root / lock.NAME).read_text(encoding="utf-8")
    data = json.loads(text)
    assert data["paper"]["id"] == "2401.00001" and data["anchors"] and "width of 64" not in text
    outcome = lock.compare(root)
    assert outcome.ok and outcome.counts == {"as locked": len(data["anchors"])}
    assert "alone" in outcome.notes[0]


@pytest.mark.parametrize("change, check", [
    (lambda text: text.replace("64\"", "65\""), "lock-changed"), (lambda text: text.replace("§1", "§A"), "lock-changed"),
    (lambda text: text + '  depth: 3  # §1 — "three layers"\n', "lock-changed"), (lambda text: text.split("#")[0] + "\n", "lock-gone"),
])
def test_lock_finds_what_changed(made, change, check):
    root = locked(made)
    path = root / "configs" / "base.yaml"
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    outcome = lock.compare(root)
    assert check in {finding.check for finding in outcome.findings}


def test_lock_knows_a_quote_that_names_no_place(made):
    flag = '# [PARTIALLY_SPECIFIED] "a learning rate of" — of which rule is not said.\n#   Using: 0.001\n#   Alternatives: 0.01\nRATE = None\n'
    root, source = made(files={"configs/base.yaml": 'model:\n  width: 64  # §1 — "a width of 64"\n', "src/model.py": '"""§1, Eq. 1"""\n' + flag})
    page = report.gather(root, source)
    lock.write(root, page.paper, page.outcome, source)
    assert any(not entry["place"] for entry in lock.read(root)["anchors"])
    outcome = lock.compare(root)
    assert outcome.ok and not outcome.findings, outcome.findings
    path = root / "src" / "model.py"
    path.write_text(path.read_text(encoding="utf-8").replace("learning rate of", "learning rate by"), encoding="utf-8")
    assert {finding.check for finding in lock.compare(root).findings} == {"lock-changed", "lock-gone"}


def test_lock_moves_with_its_lines(made):
    root = locked(made)
    path = root / "configs" / "base.yaml"
    path.write_text("# a new first line\n\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert lock.compare(root).ok


@pytest.mark.parametrize("content", ["{}", "[]", "not json", '{"schema": 99}', '{"schema": 1, "anchors": [{}]}'])
def test_broken_lock_is_said(made, content):
    root = locked(made)
    (root / lock.NAME).write_text(content, encoding="utf-8")
    with pytest.raises(lock.cli.Stop) as stop:
        lock.compare(root)
    assert stop.value.code == 2 and lock.NAME in stop.value.message


# --- the script, and a browser ------------------------------------------------------------------------------------------


def test_script(made, tmp_path):
    root, source = made()
    run = lambda *more: subprocess.run([sys.executable, str(ROOT / "scripts" / "write_report.py"), str(root), "--paper", str(source), *more],  # noqa: E731
                                       capture_output=True, text=True, encoding="utf-8")
    done = run()
    assert done.returncode == 0, done.stderr
    assert (root / "evidence.html").is_file() and (root / lock.NAME).is_file() and done.stdout.startswith("paper2code: ")
    assert json.loads(run("--json").stdout)["verdict"] == "flawed"
    assert "A Small Paper" in run("--text").stdout
    done = subprocess.run([sys.executable, str(ROOT / "scripts" / "write_report.py"), str(tmp_path / "none"), "--paper", str(source)],
                          capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 2 and "no folder" in done.stderr


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine (Debian: apt-get install chromium)")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"])
        yield chromium
        chromium.close()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser(made, browser, scheme, tmp_path):
    root, source = made()
    path = tmp_path / "evidence.html"
    path.write_text(report.html(report.gather(root, source)), encoding="utf-8")
    page = browser.new_page(color_scheme=scheme, viewport={"width": 1400, "height": 900})
    complaints = []
    page.on("console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: complaints.append(request.url) if not request.url.startswith(("file:", "data:")) else None)
    page.goto(path.as_uri())

    # Both ways: from code to paper, and back.
    mark = page.locator("a.mark.st-verified").first
    target = mark.get_attribute("href")
    mark.click()
    assert page.evaluate("document.querySelector('.lit').id") == target[1:]
    back = page.locator(f"{target} a.chip").first
    back.click()
    assert page.evaluate("location.hash").startswith("#L-")
    # The filter.
    before = page.locator("a.mark:visible").count()
    page.locator("input[name=state][value=verified]").uncheck()
    assert page.locator("a.mark:visible").count() < before and page.locator("a.mark.st-verified:visible").count() == 0
    page.locator("input[name=state][value=verified]").check()
    page.locator("#find").fill("width of 65")
    assert page.locator("a.mark:visible").count() == 1
    page.locator("#find").fill("")
    # The keyboard reaches the skip link first.
    page.reload()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"

    from axe_playwright_python.sync_playwright import Axe

    violations = [v for v in Axe().run(page).response["violations"] if v["impact"] in ("serious", "critical")]
    assert not violations, [(v["id"], v["nodes"][0]["html"], v["nodes"][0].get("failureSummary")) for v in violations]
    page.set_viewport_size({"width": 380, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    picture = page.screenshot(path=os.fspath(tmp_path / "phone.png"))
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert not complaints
    page.close()


def test_check_result_locks_and_uses_the_lock(made):
    root, source = made(files={"configs/base.yaml": 'model:\n  width: 64  # §1 — "a width of 64"\n'})
    run = lambda *more: subprocess.run([sys.executable, str(ROOT / "scripts" / "check_result.py"), str(root), *more],  # noqa: E731
                                       capture_output=True, text=True, encoding="utf-8")
    done = run()
    assert done.returncode == 2 and "--paper" in done.stderr
    run("--paper", str(source), "--lock")
    assert (root / lock.NAME).is_file()
    done = run()
    assert done.returncode == 0 and "1 as locked" in done.stdout, done.stdout + done.stderr
    (root / "configs" / "base.yaml").write_text('model:\n  width: 46  # §1 — "a width of 46"\n', encoding="utf-8")
    done = run("--annotate", "github")
    assert done.returncode == 1 and "::error file=configs/base.yaml,line=2" in done.stdout
