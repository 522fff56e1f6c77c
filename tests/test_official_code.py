"""Links to code: cleaned, ranked with reasons; a repository brought at a commit from a stand-in for the code host."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import standin
from paper2code import cli
from paper2code.find import bring, code
from paper2code.paper import Block, Footnote, Link, Paper, Reference, Section
from paper2code.workspace import Workspace

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "find_official_code.py"


# --- cleaning -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given, url",
    [
        ("https://github.com/a/b", "https://github.com/a/b"),
        ("http://www.github.com/a/b/", "https://github.com/a/b"),
        ("github.com/a/b.git", "https://github.com/a/b"),
        ("https://github.com/a/b/tree/main", "https://github.com/a/b"),
        ("https://github.com/a/b.", "https://github.com/a/b"),
        ("https://github.com/a/b).", "https://github.com/a/b"),
        ("https://github.com/a/b.The", "https://github.com/a/b"),
        ("https://github.com/a/bert.references", "https://github.com/a/bert"),
        ("https://github.com/a/llama2.c", "https://github.com/a/llama2.c"),
        ("https://github.com/a/b#readme", "https://github.com/a/b"),
        ("https://github.com/a/b?tab=readme", "https://github.com/a/b"),
        (r"https://github.com/a/b\_c", "https://github.com/a/b_c"),
        ("https://gitlab.com/a/b/-/tree/dev", "https://gitlab.com/a/b"),
        ("https://a.github.io/b/index.html", "https://a.github.io/b"),
        ("https://github.com/ a/b", "https://github.com/a/b"),
        ("https://github.com/a\u200b/b", "https://github.com/a/b"),
    ],
)
def test_a_link_is_cleaned(given, url):
    assert code.clean(given, typed=True).url == url


@pytest.mark.parametrize(
    "given",
    [
        "https://arxiv.org/abs/1706.03762",
        "https://doi.org/10.1/x",
        "https://github.com/features/actions",
        "this https URL",
        "",
        "https://",
        "http://[broken",
        "https://huggingface.co/datasets/a/b",
        "https://github.com/",
    ],
)
def test_what_holds_no_code_is_dropped(given):
    assert code.clean(given) is None


def test_branch_and_path_are_kept():
    address = code.clean("https://github.com/a/b/blob/v1.0/src/model.py")
    assert (address.url, address.ref, address.path) == ("https://github.com/a/b", "v1.0", "src/model.py")


# --- ranking --------------------------------------------------------------------------------------------------------------


def paper(*texts: str, title: str = "SeeSaw: Balancing Two Losses", **more) -> Paper:
    sections = [
        Section(str(n), name, str(n), blocks=[Block("paragraph", text, page=n)], page=n)
        for n, (name, text) in enumerate(zip(("Introduction", "Method", "Experiments", "Appendix"), texts, strict=False), 1)
    ]
    return Paper(id="x", title=title, authors=["Ada Example", "Ben Sample"], sections=sections, pages=4, **more)


def test_our_code_is_first():
    found = code.rank(
        paper("Our code is available at https://github.com/aexample/seesaw.", "We use https://github.com/other/toolkit for this.")
    )
    assert found[0]["url"] == "https://github.com/aexample/seesaw" and found[0]["confidence"] >= 0.8
    assert any("code is given" in reason for reason in found[0]["reasons"]) and found[1]["confidence"] < 0.5
    assert code.official(found) == found[0]


@pytest.mark.parametrize(
    "text",
    [
        "We use the implementation of Smith et al. at https://github.com/smith/net.",
        "It is implemented in PyTorch (https://github.com/pytorch/pytorch).",
        "The data set is from https://github.com/data/set.",
        "An implementation is available at https://github.com/third/party.",
        "See https://www.example.org for the workshop.",
    ],
)
def test_others_code_is_not_called_official(text):
    assert code.official(code.rank(paper("Hello.", "World.", text))) is None


def test_bibliography_and_related_work_do_not_count():
    whole = paper(
        "Hello.",
        references=[Reference("a", "Smith. Net. https://github.com/smith/net", "1")],
        links=[Link("https://github.com/smith/net", "https://github.com/smith/net", "Smith. Net.", "reference")],
    )
    assert code.official(code.rank(whole)) is None


def test_the_target_of_a_link_settles_what_was_read_from_the_text():
    whole = paper(
        "Our code is at https://github.com/aexample/seesaw1 for all.",
        links=[Link("https://github.com/aexample/seesaw", "", "", "annotation", page=1)],
    )
    assert [entry["url"] for entry in code.rank(whole)] == ["https://github.com/aexample/seesaw"]


def test_comments_abstract_and_the_public_record_count():
    whole = paper("Hello.")
    record = {"comments": "9 pages. Code: https://github.com/zed/thing."}
    assert code.rank(whole, record)[0]["source"] == "comments" and code.official(code.rank(whole, record))
    record = {"huggingface": {"githubRepo": "https://github.com/zed/thing"}}
    assert code.official(code.rank(whole, record))["url"] == "https://github.com/zed/thing"


def test_an_address_split_over_a_line():
    whole = paper("Code is available at https://github.com/ aexample/seesaw today.")
    assert code.rank(whole)[0]["url"] == "https://github.com/aexample/seesaw"


def test_a_paper_without_links_has_none():
    assert code.rank(paper("Nothing to see.")) == [] and code.rank(Paper()) == []


def test_a_survey_with_hundreds_of_repositories_names_none():
    whole = paper(
        "A survey.",
        " ".join(f"Method {n} is at https://github.com/owner{n}/method{n}." for n in range(300)),
        title="A Survey of Methods",
    )
    found = code.rank(whole)
    assert code.official(found) is None and len(found) <= code.MOST


def test_gists_and_pages_are_told():
    found = code.rank(
        paper("Our code is at https://gist.github.com/aexample/0123456789abcdef.", "Project page: https://seesaw.github.io.")
    )
    assert {entry["kind"] for entry in found} == {"gist", "page"}


def test_a_footnote_is_enough():
    whole = paper(
        "Hello.", footnotes=[Footnote("fn-1", "Code is available at https://github.com/bsample/seesaw", "1", section="1", page=1)]
    )
    assert code.official(code.rank(whole))["url"] == "https://github.com/bsample/seesaw"


# --- bringing ---------------------------------------------------------------------------------------------------------------

COMMIT, OTHER = "1" * 40, "2" * 40
FILES = {"README.md": "# SeeSaw", "LICENSE": "MIT License\n\nPermission is hereby granted, free of charge", "src/model.py": "x = 1\n"}


def packet(line: bytes) -> bytes:
    return b"%04x" % (len(line) + 4) + line


def advertised(heads: dict[str, str]) -> bytes:
    lines = [f"{commit} {name}" for name, commit in heads.items()]
    first = (
        packet(f"{lines[0]}\0multi_ack symref=HEAD:refs/heads/main\n".encode())
        if lines
        else packet(b"0" * 40 + b" capabilities^{}\0multi_ack\n")
    )
    return (
        packet(b"# service=git-upload-pack\n")
        + b"0000"
        + first
        + b"".join(packet(f"{line}\n".encode()) for line in lines[1:])
        + b"0000"
    )


def archive(files: dict[str, str | bytes], commit: str = COMMIT, top: str = "seesaw") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", format=tarfile.PAX_FORMAT, pax_headers={"comment": commit}) as tar:
        for name, text in files.items():
            body = text.encode() if isinstance(text, str) else text
            member = tarfile.TarInfo(f"{top}-{commit}/{name}")
            member.size = len(body)
            tar.addfile(member, io.BytesIO(body))
    return out.getvalue()


class CodeHost(standin.Standin):
    """The stand-in with repositories under /github: heads and, for each commit, files."""

    def __init__(self, repositories: dict[str, tuple[dict[str, str], dict[str, bytes]]], moved: dict[str, str] | None = None):
        super().__init__({})
        self.repositories, self.moved = repositories, moved or {}

    def body(self, path: str, query: dict) -> tuple[int, str, bytes, dict]:
        name, _, rest = path.removeprefix("/github/").partition(".git/" if ".git/" in path else "/archive/")
        if name in self.moved:
            return 301, "text/html", b"", {"Location": f"{self.url}/github/{self.moved[name]}.git/{rest}?service=git-upload-pack"}
        if name not in self.repositories:
            return 404, "text/html", b"no", {}
        heads, archives = self.repositories[name]
        if rest.startswith("info/refs"):
            return 200, "application/x-git-upload-pack-advertisement", advertised(heads), {}
        held = archives.get(rest.removesuffix(".tar.gz"))
        return (200, "application/x-gzip", held, {}) if held else (404, "text/html", b"no", {})


HEADS = {
    "HEAD": COMMIT,
    "refs/heads/main": COMMIT,
    "refs/heads/feature/x": OTHER,
    "refs/tags/v1.0": "3" * 40,
    "refs/tags/v1.0^{}": OTHER,
}


@pytest.fixture
def host(monkeypatch, tmp_path):
    with CodeHost(
        {
            "aexample/seesaw": (
                HEADS,
                {COMMIT: archive(FILES), OTHER: archive({"old.py": "y = 2\n"}, OTHER), "4" * 40: archive(FILES, "4" * 40)},
            ),
            "aexample/empty": ({}, {}),
            "aexample/soon": ({"HEAD": COMMIT}, {COMMIT: archive({"README.md": "Code coming soon!"})}),
            "aexample/bomb": ({"HEAD": COMMIT}, {COMMIT: archive({"zeros.py": bytes(60 << 20)})}),
            "aexample/page": ({"HEAD": COMMIT}, {COMMIT: b"<html>sign in</html>"}),
            "aexample/evil": ({"HEAD": COMMIT}, {COMMIT: archive({"../../evil.py": "z", "good.py": "z"})}),
        },
        {"oldname/seesaw": "aexample/seesaw"},
    ) as server:
        for name, value in server.environ().items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("PAPER2CODE_CACHE", str(tmp_path / "cache"))
        yield server


@pytest.fixture
def place(tmp_path):
    return Workspace(tmp_path / "work")


def quiet(line: str) -> None:
    pass


def test_the_default_branch_is_brought_at_its_commit(host, place):
    done = bring.bring("https://github.com/aexample/seesaw", place, say=quiet)
    folder = place.official_code / "aexample__seesaw"
    assert done.commit == COMMIT and done.ref is None and done.licence == "MIT" and done.notes == []
    assert (folder / "src" / "model.py").read_text(encoding="utf-8") == "x = 1\n"
    assert done.permalink == f"https://github.com/aexample/seesaw/blob/{COMMIT}/PATH#LLINE"
    assert [entry["path"] for entry in done.files] == ["LICENSE", "README.md", "src/model.py"]
    assert json.loads((place.official_code / "brought.json").read_text(encoding="utf-8"))["commit"] == COMMIT
    assert not any(path.stat().st_mode & 0o111 for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    "asked, commit", [("feature/x", OTHER), ("v1.0", OTHER), ("main", COMMIT), ("4" * 40, "4" * 40), ("2222222", OTHER)]
)
def test_a_branch_a_tag_a_commit(host, place, asked, commit):
    assert bring.bring("https://github.com/aexample/seesaw", place, commit=asked, say=quiet).commit == commit


def test_a_branch_with_a_slash_in_the_address(host, place):
    done = bring.bring("https://github.com/aexample/seesaw/tree/feature/x/src", place, say=quiet)
    assert (done.ref, done.commit) == ("feature/x", OTHER)


def test_a_renamed_repository_is_followed_and_told(host, place):
    done = bring.bring("https://github.com/oldname/seesaw", place, say=quiet)
    assert done.renamed_to == "https://github.com/aexample/seesaw" and any("has moved" in note for note in done.notes)


def test_code_that_is_not_there_yet_is_told(host, place):
    done = bring.bring("https://github.com/aexample/soon", place, say=quiet)
    assert "no code" in done.notes[0] and "coming soon" in done.notes[0].lower() and any("no licence" in note for note in done.notes)


def test_nothing_gets_out_of_the_folder(host, place, tmp_path):
    done = bring.bring("https://github.com/aexample/evil", place, say=quiet)
    assert [entry["path"] for entry in done.files] == ["good.py"] and not list(tmp_path.rglob("evil.py")) and done.left_out


@pytest.mark.parametrize(
    "url, exit, words",
    [
        ("https://github.com/aexample/none", cli.UNUSABLE, "no public"),
        ("https://github.com/aexample/empty", cli.UNUSABLE, "empty repository"),
        ("https://github.com/aexample/bomb", cli.UNUSABLE, "bomb"),
        ("https://github.com/aexample/page", cli.UNREACHABLE, "no archive"),
        ("https://gist.github.com/a/0123", cli.USAGE, "gist"),
        ("https://example.org/code", cli.USAGE, "page"),
        ("nonsense", cli.USAGE, "no address"),
        ("https://github.com/aexample", cli.USAGE, "page"),
        ("https://evil.example/a/b", cli.USAGE, "page"),
    ],
)
def test_what_cannot_be_brought_is_said_and_nothing_is_left(host, place, monkeypatch, url, exit, words):
    monkeypatch.setattr("paper2code.acquire.client.TRIES", 1)
    with pytest.raises(cli.Stop) as stop:
        bring.bring(url, place, say=quiet)
    assert stop.value.code == exit and words in stop.value.message
    assert not place.official_code.exists() or not any(place.official_code.iterdir())


def test_an_unknown_branch_names_those_there_are(host, place):
    with pytest.raises(cli.Stop) as stop:
        bring.bring("https://github.com/aexample/seesaw", place, commit="nowhere", say=quiet)
    assert stop.value.code == cli.UNUSABLE and "feature/x, main, v1.0" in stop.value.expected


def test_a_failed_second_fetch_keeps_the_first(host, place):
    bring.bring("https://github.com/aexample/seesaw", place, say=quiet)
    with pytest.raises(cli.Stop):
        bring.bring("https://github.com/aexample/seesaw", place, commit="5" * 40, say=quiet)
    assert (place.official_code / "aexample__seesaw" / "src" / "model.py").is_file()


def test_a_dead_host(place, monkeypatch, tmp_path):
    monkeypatch.setenv("PAPER2CODE_GITHUB_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("PAPER2CODE_CACHE", str(tmp_path / "cache"))
    with pytest.raises(cli.Stop) as stop:
        bring.bring("https://github.com/aexample/seesaw", place, say=quiet)
    assert stop.value.code == cli.UNREACHABLE


# --- the script -------------------------------------------------------------------------------------------------------------


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, encoding="utf-8", check=False)


def test_the_script_ranks_and_says_why(tmp_path):
    work = Workspace(tmp_path / "work")
    paper("Our code is available at https://github.com/aexample/seesaw.").save(work.paper_file)
    done = run(str(work.folder))
    assert (
        done.returncode == cli.DONE
        and "official: https://github.com/aexample/seesaw" in done.stdout
        and "the sentence says" in done.stdout
    )
    data = json.loads(run(str(work.folder), "--json").stdout)
    assert set(data["official_code"][0]) >= {"url", "source", "context", "confidence", "reasons"}


def test_the_script_says_when_there_is_none(tmp_path):
    work = Workspace(tmp_path / "work")
    paper("Nothing.").save(work.paper_file)
    assert "no link" in run(str(work.folder)).stdout
    assert run(str(tmp_path / "nowhere")).returncode == cli.USAGE
    assert run(str(work.folder), "--commit", "x").returncode == cli.USAGE


def test_the_script_brings(host, tmp_path):
    work = Workspace(tmp_path / "work")
    paper("Hello.").save(work.paper_file)
    done = run(str(work.folder), "--bring", "https://github.com/aexample/seesaw")
    assert done.returncode == cli.DONE and COMMIT in done.stdout and "never run" in done.stdout, done.stderr


@pytest.fixture
def clone(tmp_path):
    """A clone with two commits, whose own configuration names a filter that must not run."""
    folder = tmp_path / "clone"
    folder.mkdir()
    run = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-C", str(folder)]

    def git(*words):
        return subprocess.run([*run, *words], check=True, capture_output=True, text=True).stdout.strip()

    git("init", "--quiet")
    for number in (1, 2):
        (folder / "train.py").write_text(f"rate = 0.{number}\n", encoding="utf-8")
        (folder / ".gitattributes").write_text("*.py filter=bad\n", encoding="utf-8")
        git("add", ".")
        git("commit", "--quiet", "-m", f"step {number}")
    git("config", "filter.bad.smudge", f"touch {tmp_path / 'ran'}")
    return folder, git("rev-parse", "HEAD"), git("rev-parse", "HEAD~1")


def test_a_clone_on_this_machine_is_taken_at_its_commit(clone, place, tmp_path):
    folder, last, first = clone
    done = bring.bring("https://github.com/owner/name", place, copy=folder)
    assert done.commit == last and (Path(done.folder) / "train.py").read_text(encoding="utf-8") == "rate = 0.2\n"
    done = bring.bring("https://github.com/owner/name", place, commit="HEAD~1", copy=folder)
    assert done.commit == first and (Path(done.folder) / "train.py").read_text(encoding="utf-8") == "rate = 0.1\n"
    assert first in done.permalink and not (tmp_path / "ran").exists()


def test_an_archive_on_this_machine_says_its_commit(clone, place, tmp_path):
    folder, last, first = clone
    archive = tmp_path / "name.tar.gz"
    subprocess.run(["git", "-C", str(folder), "archive", "--prefix=name/", "--format=tar.gz", "--output", str(archive), last], check=True)
    assert bring.bring("https://github.com/owner/name", place, copy=archive).commit == last
    with pytest.raises(cli.Stop) as stop:
        bring.bring("https://github.com/owner/name", place, commit=first, copy=archive)
    assert stop.value.code == cli.USAGE


@pytest.mark.parametrize("what, commit, words", [("nowhere", None, "no file or folder"), ("empty", None, "git cannot read"),
                                                 ("clone", "no-such-branch", "git cannot read"), ("clone/inside", None, "inside another repository")])
def test_a_copy_that_is_none_is_said(clone, place, tmp_path, what, commit, words):
    (tmp_path / "empty").mkdir()
    (tmp_path / "clone" / "inside").mkdir()
    with pytest.raises(cli.Stop) as stop:
        bring.bring("https://github.com/owner/name", place, commit=commit, copy=tmp_path / what)
    assert words in stop.value.message
