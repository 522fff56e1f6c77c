"""Every fault that a network, a server, a disk or a file can have: how the run ends, and that nothing else is touched.

Each case is a line of the table that is printed at the end: what went wrong, the exit code, what the paper was read from.
"""

import errno
import gzip
import importlib.util
import json
import os
import shutil
import ssl
import subprocess
import tarfile
from pathlib import Path

import pytest
from paper2code import cli
from paper2code.acquire import client as client_module
from standin import ABSTRACT, PROSE, TITLE, Served, Standin, html, lone, pdf, targz, tex
from test_acquisition_unpack import members, plain_tar, zipped

ROOT = Path(__file__).resolve().parents[1]
ID = "2101.00001"
TABLE: list[tuple[str, int, str, str]] = []


def script(name: str):
    spec = importlib.util.spec_from_file_location(f"script_{name}", ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FETCH = script("fetch_paper")


@pytest.fixture(scope="module", autouse=True)
def printed(request):
    """The table of faults, at the end of the module."""
    yield
    reporter = request.config.pluginmanager.getplugin("terminalreporter")
    if TABLE and reporter:
        wide = max(len(row[0]) for row in TABLE)
        reporter.write_line(f"\n{'fault':<{wide}}  exit  read from            message")
        for name, code, read, message in TABLE:
            reporter.write_line(f"{name:<{wide}}  {code:>4}  {read:<19}  {message[:110]}")


class Run:
    """One run of fetch_paper.py in this process, with the files that were there before and after."""

    def __init__(self, tmp_path: Path, monkeypatch, capsys):
        self.tmp_path, self.monkeypatch, self.capsys = tmp_path, monkeypatch, capsys
        self.work = tmp_path / "here" / "work"
        (tmp_path / "here").mkdir()
        monkeypatch.chdir(tmp_path / "here")
        monkeypatch.setenv("PAPER2CODE_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("PAPER2CODE_TIMEOUT", "0.4")
        monkeypatch.setenv("PAPER2CODE_TIME_LIMIT", "60")
        self.waits = []
        monkeypatch.setattr(client_module.time, "sleep", self.waits.append)

    def __call__(self, *arguments, server: Standin | None = None):
        if server:
            for name, value in server.environ().items():
                self.monkeypatch.setenv(name, value)
        code = cli.run(lambda: FETCH.main([*map(str, arguments), "--json"]))
        out, err = self.capsys.readouterr()
        data = json.loads(out) if out.strip() else {}
        outside = [path for path in self.tmp_path.iterdir() if path.name not in ("here", "cache", "given")]
        assert not outside, f"written outside of workspace and cache: {outside}"
        incoming = self.tmp_path / "cache" / "incoming"
        assert not incoming.exists() or not any(incoming.iterdir()), "an unfinished download was left"
        assert not list((self.tmp_path / "here").rglob("*.part")), "something half written was left"
        assert "Traceback" not in err
        return code, data, err


@pytest.fixture
def fetch(tmp_path, monkeypatch, capsys):
    return Run(tmp_path, monkeypatch, capsys)


def note(name: str, code: int, data: dict, err: str) -> None:
    message = next((line for line in reversed(err.splitlines()) if line.startswith("error")), "") or "; ".join(
        f"{role}: {why}" for role, why in data.get("missing", {}).items() if role != "hf")
    TABLE.append((name, code, ", ".join(data.get("read_from", [])) or "-", message))


ALL = ["source", "html", "pdf"]
NETWORK = {
    "nothing": ([], 0, ALL),
    "503 twice, then good": ([("/pdf/", "503", 2)], 0, ALL),
    "429 with Retry-After, then good": ([("/src/", "429:1", 1)], 0, ALL),
    "429 without, then good": ([("/html/", "429", 1)], 0, ALL),
    "PDF: 503 for good": ([("/pdf/", "503", -1)], 0, ["source", "html"]),
    "PDF: 404": ([("/pdf/", "404", -1)], 0, ["source", "html"]),
    "PDF: 403": ([("/pdf/", "403", -1)], 0, ["source", "html"]),
    "PDF: 429 for hours": ([("/pdf/", "429:7200", -1)], 0, ["source", "html"]),
    "PDF: a web page": ([("/pdf/", "page", -1)], 0, ["source", "html"]),
    "PDF: empty": ([("/pdf/", "empty", -1)], 0, ["source", "html"]),
    "PDF: garbage": ([("/pdf/", "garbage", -1)], 0, ["source", "html"]),
    "PDF: cut": ([("/pdf/", "cut", -1)], 0, ["source", "html"]),
    "PDF: Content-Length too long": ([("/pdf/", "long", -1)], 0, ["source", "html"]),
    "PDF: too large": ([("/pdf/", "huge", -1)], 0, ["source", "html"]),
    "PDF: hangs": ([("/pdf/", "hang", -1)], 0, ["source", "html"]),
    "PDF: slow, then good": ([("/pdf/", "slow:0.2", -1)], 0, ALL),
    "PDF: redirect loop": ([("/pdf/", "redirect", -1)], 0, ["source", "html"]),
    "PDF: redirect to another host": ([("/pdf/", "redirect:https://example.org/x.pdf", -1)], 0, ["source", "html"]),
    "source: 500": ([("/src/", "500", -1)], 0, ["html", "pdf"]),
    "source: a web page": ([("/src/", "page", -1)], 0, ["html", "pdf"]),
    "source: garbage": ([("/src/", "garbage", -1)], 0, ["html", "pdf"]),
    "source: cut": ([("/src/", "cut", -1)], 0, ["html", "pdf"]),
    "source: empty": ([("/src/", "empty", -1)], 0, ["html", "pdf"]),
    "source: hangs": ([("/src/", "hang", -1)], 0, ["html", "pdf"]),
    "HTML: 503, and none on ar5iv": ([("/html/", "503", -1)], 0, ["source", "pdf"]),
    "HTML: garbage": ([("/html/", "garbage", -1)], 0, ["source", "pdf"]),
    "HTML: some other page": ([("/html/", "page", -1)], 0, ["source", "pdf"]),
    "API: 503": ([("/api/", "503", -1)], 0, ALL),
    "API: a web page": ([("/api/", "page", -1)], 0, ALL),
    "API: garbage": ([("/api/", "garbage", -1)], 0, ALL),
    "API: empty": ([("/api/", "empty", -1)], 0, ALL),
    "API: hangs": ([("/api/", "hang", -1)], 0, ALL),
    "abstract page: 503": ([("/abs/", "503", -1)], 0, ALL),
    "abstract page: garbage": ([("/abs/", "garbage", -1)], 0, ALL),
    "API and abstract page: 503": ([("/api/", "503", -1), ("/abs/", "503", -1)], 0, ALL),
    "everything: 503": ([("/", "503", -1)], 3, []),
    "everything: a web page": ([("/", "page", -1)], 3, []),
    "everything: hangs": ([("/", "hang", -1)], 3, []),
    "everything but the API: 404": ([("/abs/", "404", -1), ("/src/", "404", -1), ("/html/", "404", -1), ("/pdf/", "404", -1)], 4, []),
}


@pytest.mark.parametrize("name", NETWORK)
def test_network(fetch, name):
    rules, code, read = NETWORK[name]
    with Standin({ID: Served()}) as server:
        for rule in rules:
            server.fault(*rule)
        got, data, err = fetch(ID, fetch.work, server=server)
        note(name, got, data, err)
        assert (got, data.get("read_from", [])) == (code, read), err
        for prefix in ("/api/", "/abs/", "/src/", "/html/", "/pdf/"):
            assert server.asked(prefix) <= 5, f"{prefix} was asked for {server.asked(prefix)} times"
        if code == cli.DONE:
            assert data["title"] == TITLE and (fetch.work / "outline.md").is_file()
            assert set(json.loads((fetch.work / "raw" / "provenance.json").read_text(encoding="utf-8"))["missing"]) >= set(ALL) - set(read)


def test_no_network(fetch, monkeypatch):
    for name in ("ARXIV", "EXPORT", "AR5IV", "HF"):
        monkeypatch.setenv(f"PAPER2CODE_{name}_URL", "http://nothing.invalid")
    code, data, err = fetch(ID, fetch.work)
    note("host name does not resolve", code, data, err)
    assert code == cli.UNREACHABLE and "cannot be resolved" in err and not fetch.waits


def test_connection_refused(fetch, monkeypatch):
    with Standin({}) as server:
        pass  # its port is closed now
    code, data, err = fetch(ID, fetch.work, server=server)
    note("connection refused", code, data, err)
    assert code == cli.UNREACHABLE and "refused" in err


def test_self_signed_certificate(fetch, tmp_path):
    if not shutil.which("openssl"):
        pytest.skip("openssl, which makes the certificate, is not here")
    given = tmp_path / "given"
    given.mkdir()
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-keyout",
                    str(given / "key.pem"), "-out", str(given / "cert.pem")], check=True, capture_output=True)
    with Standin({ID: Served()}, (str(given / "cert.pem"), str(given / "key.pem"))) as server:
        code, data, err = fetch(ID, fetch.work, server=server)
    note("certificate nobody vouches for", code, data, err)
    assert code == cli.UNREACHABLE and "certificate" in err and not server.log
    assert ssl.OPENSSL_VERSION


def test_disk_full_while_downloading(fetch, monkeypatch):
    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with Standin({ID: Served()}) as server:
        monkeypatch.setattr(client_module.os, "fsync", full)
        code, data, err = fetch(ID, fetch.work, server=server)
        monkeypatch.undo()
    note("disk full", code, data, err)
    assert code == cli.ENVIRONMENT and "no space left" in err


IDS = {
    "an id that does not exist": ("2101.99999", Served(), 4, "arXiv has no paper"),
    "an id the API calls malformed": ("0704.9999", Served(), 4, "incorrect id format"),
    "a version that does not exist": (f"{ID}v3", Served(version=2), 4, "no version 3; the newest is 2"),
    "a withdrawn paper": (ID, Served(version=2, withdrawn=True, comments="This paper has been withdrawn due to an error"), 4, "withdrawn"),
    "withdrawn by its comment alone": (ID, Served(comments="Withdrawn by the authors", source=None, html=None, pdf=None), 4, "withdrawn"),
    "an impossible id": ("2113.00001", Served(), 2, "no month 13"),
    "an address elsewhere": ("https://example.org/2101.00001", Served(), 2, "example.org"),
}


@pytest.mark.parametrize("name", IDS)
def test_ids(fetch, name):
    asked, paper, code, words = IDS[name]
    with Standin({ID: paper}) as server:
        got, data, err = fetch(asked, fetch.work, server=server)
        note(name, got, data, err)
        assert got == code and words in err
        assert got == cli.UNUSABLE or not server.log, "refused before any network call"


WITHDRAWN = "%auto-ignore\nThis paper has been withdrawn by the author.\n"
ESCAPING = tex().replace(r"\section{Method}", "\\input{/etc/passwd}\\input{../../secret}\\input|\"id\"\n\\section{Method}")
LOOP = tex().replace(r"\section{Method}", "\\input{main}\n\\section{Method}")
SOURCES = {
    "source is a lone gzipped .tex": (lone(tex()), ALL),
    "source is a lone .tex": (tex().encode(), ALL),
    "source is a plain tar": (plain_tar({"main.tex": tex().encode()}), ALL),
    "source is the PDF": (pdf(), ["html", "pdf"]),
    "source is a withdrawal": (lone(WITHDRAWN), ["html", "pdf"]),
    "source without TeX": (targz({"readme.txt": b"see the PDF"}), ["html", "pdf"]),
    "source with ../ and absolute names": (
        members(("../e.tex", b"x", {}), ("/e.tex", b"x", {}), ("main.tex", tex().encode(), {})),
        ALL,
    ),
    "source with links and devices": (
        members(
            ("l", b"", {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}),
            ("h", b"", {"type": tarfile.LNKTYPE, "linkname": "/etc/passwd"}),
            ("d", b"", {"type": tarfile.CHRTYPE}),
            ("main.tex", tex().encode(), {}),
        ),
        ALL,
    ),
    "source is a bomb": (gzip.compress(plain_tar({"main.tex": b"\\section{a}" + b"A" * (60 << 20)})), ["html", "pdf"]),
    "source with 30 000 members": (gzip.compress(plain_tar({"a.tex": b""})[:512] * 30_000), ["html", "pdf"]),
    "source with deep folders": (targz({"a/" * 60 + "x.tex": b"x", "main.tex": tex().encode()}), ALL),
    "source that reads outside itself": (targz({"main.tex": ESCAPING.encode()}), ALL),
    "source that includes itself": (targz({"main.tex": LOOP.encode()}), ALL),
}


@pytest.mark.parametrize("name", SOURCES)
def test_sources(fetch, name):
    source, read = SOURCES[name]
    with Standin({ID: Served(source=source)}) as server:
        code, data, err = fetch(ID, fetch.work, server=server)
    note(name, code, data, err)
    assert (code, data.get("read_from")) == (cli.DONE, read), err
    text = (fetch.work / "paper_text.md").read_text(encoding="utf-8")
    assert "root:" not in text and "uid=" not in text
    assert data["title"] == TITLE


FILES = {
    "file: missing": ("missing.pdf", None, 2, "no file or folder"), "file: empty": ("paper.pdf", b"", 2, "is empty"),
    "file: a web page called .pdf": ("paper.pdf", html(), 2, "called a PDF but is a web page"),
    "file: a cut PDF": ("paper.pdf", pdf()[:900], 4, ""), "file: a scanned PDF": ("paper.pdf", pdf(4, ""), 4, "picture"),
    "file: ten words": ("paper.md", b"This text has ten words and that is too few.", 4, "no paper"),
    "file: a picture": ("paper.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 99, 2, "a PNG picture"),
    "file: garbage": ("paper.dat", bytes(range(256)) * 9, 2, "none of the forms"),
    "file: a cut archive": ("paper.tar.gz", targz({"main.tex": os.urandom(40_000)})[:20_000], 4, "damaged"),
    "file: an archive without TeX": ("paper.zip", zipped({"readme.txt": b"x"}), 4, ""),
}


@pytest.mark.parametrize("name", FILES)
def test_files(fetch, tmp_path, name):
    called, data, code, words = FILES[name]
    (tmp_path / "given").mkdir()
    path = tmp_path / "given" / called
    if data is not None:
        path.write_bytes(data)
    got, out, err = fetch(path, fetch.work)
    note(name, got, out, err)
    assert got == code and words in err, err
    assert not (fetch.work / "paper.json").exists()
    assert data is None or path.read_bytes() == data, "the user's own file is never changed"


def test_encrypted_pdf(fetch, tmp_path):
    import pymupdf

    (tmp_path / "given").mkdir()
    document = pymupdf.open(stream=pdf(), filetype="pdf")
    document.save(str(tmp_path / "given" / "paper.pdf"), encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="x", owner_pw="y")
    code, data, err = fetch(tmp_path / "given" / "paper.pdf", fetch.work)
    note("file: an encrypted PDF", code, data, err)
    assert code == cli.UNUSABLE and ("encrypted" in err or "password" in err)


def test_folder_without_tex(fetch, tmp_path):
    (tmp_path / "given" / "folder").mkdir(parents=True)
    (tmp_path / "given" / "folder" / "notes.doc").write_bytes(b"x")
    code, data, err = fetch(tmp_path / "given" / "folder", fetch.work)
    note("file: a folder without TeX", code, data, err)
    assert code == cli.UNUSABLE


def test_workspace_that_cannot_be_written(fetch, tmp_path):
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "paper.html").write_bytes(html())
    (tmp_path / "here" / "file").write_text("x", encoding="utf-8")
    code, data, err = fetch(tmp_path / "given" / "paper.html", tmp_path / "here" / "file")
    note("workspace: its name is a file's", code, data, err)
    assert code == cli.USAGE and "is a file" in err
    code, data, err = fetch(tmp_path / "given" / "paper.html", "/proc/nothing/here")
    note("workspace: cannot be made", code, data, err)
    assert code in (cli.ENVIRONMENT, cli.USAGE) and "error:" in err


def test_workspace_that_holds_something_else(fetch, tmp_path):
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "paper.html").write_bytes(html())
    (tmp_path / "given" / "other.html").write_bytes(html())
    fetch.work.mkdir()
    (fetch.work / "thesis.tex").write_text("x", encoding="utf-8")
    code, data, err = fetch(tmp_path / "given" / "paper.html", fetch.work)
    note("workspace: full of something else", code, data, err)
    assert code == cli.USAGE and "not a workspace" in err and [path.name for path in fetch.work.glob("[!.]*")] == ["thesis.tex"]
    (fetch.work / "thesis.tex").unlink()
    assert fetch(tmp_path / "given" / "paper.html", fetch.work)[0] == cli.DONE
    code, data, err = fetch(tmp_path / "given" / "other.html", fetch.work)
    note("workspace: another paper's", code, data, err)
    assert code == cli.USAGE and "another paper" in err


def test_offline_and_the_cache(fetch):
    with Standin({ID: Served(version=2)}) as server:
        code, data, err = fetch(ID, fetch.work, "--offline", server=server)
        note("offline, nothing in the cache", code, data, err)
        assert code == cli.UNREACHABLE and not server.log
        assert fetch(ID, fetch.work, server=server)[0] == cli.DONE
        count = len(server.log)
        code, data, err = fetch(ID, fetch.work, "--offline", server=server)
        note("offline, from the cache", code, data, err)
        assert (code, data["read_from"], data["paper"]) == (cli.DONE, ALL, f"{ID}v2") and len(server.log) == count
        assert fetch(f"{ID}v2", fetch.work, server=server)[0] == cli.DONE
        assert len(server.log) == count, "a version that is named and whole in the cache needs no request"
        body = next((fetch.tmp_path / "cache" / "papers" / ID / "v2").glob("pdf.[0-9a-f]*"))
        body.write_bytes(body.read_bytes()[:-50])
        code, data, err = fetch(ID, fetch.work, server=server)
        note("cache: a damaged file", code, data, err)
        assert (code, data["read_from"]) == (cli.DONE, ALL) and server.asked("/pdf/") == 2
        server.fault("/", "503")
        code, data, err = fetch(ID, fetch.work, server=server)
        note("everything 503, paper in the cache", code, data, err)
        assert (code, data["paper"]) == (cli.DONE, f"{ID}v2") and "may not be the newest" in err
        count = len(server.log)
        assert fetch(ID, fetch.tmp_path / "here" / "other", "--no-cache", server=server)[0] == cli.UNREACHABLE
        assert len(server.log) > count


def test_html_of_ar5iv_and_code_of_hugging_face(fetch):
    with Standin({ID: Served(html=None, ar5iv=html(), hf={"githubRepo": "https://github.com/example/average"})}) as server:
        code, data, err = fetch(ID, fetch.work, server=server)
        note("HTML only on ar5iv", code, data, err)
        assert (code, data["read_from"]) == (cli.DONE, ALL)
        metadata = json.loads((fetch.work / "paper_metadata.json").read_text(encoding="utf-8"))
        assert metadata["huggingface"] == {"githubRepo": "https://github.com/example/average"}


def test_metadata_is_complete(fetch):
    with Standin({"math/0309136": Served(version=3, comments="12 pages; code at https://github.com/example/average")}) as server:
        code, data, err = fetch("math.GT/0309136v2", server=server)
    assert code == cli.DONE, err
    folder = fetch.tmp_path / "here" / ".paper2code_work" / "math__0309136"
    assert data["workspace"] == ".paper2code_work/math__0309136" and folder.is_dir(), "an old id makes one folder"
    metadata = json.loads((folder / "paper_metadata.json").read_text(encoding="utf-8"))
    assert (metadata["id"], metadata["version"], metadata["latest_version"]) == ("math/0309136", 2, 3)
    assert (metadata["title"], metadata["authors"], metadata["year"]) == (TITLE, ["Ada Example", "Ben Sample"], 2021)
    assert metadata["categories"] == ["cs.LG", "stat.ML"] and metadata["licence"] == "http://creativecommons.org/licenses/by/4.0/"
    assert metadata["versions"][2] == {"version": 3, "date": "2021-01-02", "size": "1,234 KB", "withdrawn": False}
    assert "12 pages" in metadata["comments"] and metadata["abstract"] == ABSTRACT
    told = json.loads((folder / "raw" / "provenance.json").read_text(encoding="utf-8"))["files"]
    assert {entry["role"] for entry in told} == {"api", "abs", "source", "html", "pdf"}
    assert all(entry["url"] and entry["time"] and len(entry["sha256"]) == 64 and entry["size"] for entry in told)


def test_the_arguments_are_remembered(fetch, tmp_path):
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "paper.txt").write_text(
        f"# {TITLE}\n\n## Abstract\n\n{ABSTRACT}\n\n## 1 Method\n\n{PROSE * 9}\n", encoding="utf-8"
    )
    path = tmp_path / "given" / "paper.txt"
    assert fetch(path, fetch.work, "--mode", "full", "--framework", "jax")[0] == cli.DONE
    first = (fetch.work / "job.json").read_text(encoding="utf-8")
    assert fetch(path, fetch.work)[0] == cli.DONE
    job = json.loads((fetch.work / "job.json").read_text(encoding="utf-8"))
    assert (job["mode"], job["framework"]) == ("full", "jax") and json.loads(first) == job
    with pytest.raises(SystemExit) as end:
        fetch(path, fetch.work, "--mode", "huge")
    assert end.value.code == cli.USAGE
