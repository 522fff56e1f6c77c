"""The client and the cache: spacing, retries, limits, what is kept and what is never trusted."""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from paper2code import cli
from paper2code.acquire import client as module
from paper2code.acquire.addresses import Addresses
from paper2code.acquire.cache import ABSENT_FOR, Cache, Record
from paper2code.acquire.client import Client, Failed
from paper2code.acquire.identifiers import ArxivId
from standin import Served, Standin

ID = "2101.00001"
PAPER = ArxivId(ID, 1)
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def server():
    with Standin({ID: Served()}) as standin:
        yield standin


@pytest.fixture
def make(server, tmp_path, monkeypatch):
    """A client of the stand-in whose waits are noted instead of slept."""
    for name, value in server.environ().items():
        monkeypatch.setenv(name, value)
    waits: list[float] = []
    monkeypatch.setattr(module.time, "sleep", waits.append)

    def make(**env: str) -> Client:
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        out = Client(Cache(tmp_path / "cache"), Addresses.given(), say=said.append, bar=False)
        out.waits, out.said = waits, said
        return out

    said: list[str] = []
    return make


def get(client: Client, path: str, **more):
    part = client.cache.part("x")
    given = {"name": "PDF", "cap": 1 << 20, "check": lambda path: None, **more}
    try:
        return client.get(client.addresses.arxiv + path, part, **given), part
    finally:
        client.left = list((client.cache.folder / "incoming").iterdir())


def test_a_body_arrives_with_its_hash(server, make):
    body, part = get(make(), f"/pdf/{ID}v1")
    assert part.read_bytes() == server.papers[ID].pdf
    assert body.size == part.stat().st_size and len(body.sha256) == 64 and body.url.endswith(f"/pdf/{ID}v1")


def test_retries_are_bounded_and_grow(server, make):
    server.fault("/pdf/", "503")
    client = make()
    with pytest.raises(Failed, match="answers 503, 4 times"):
        get(client, f"/pdf/{ID}v1")
    assert server.asked("/pdf/") == 4 and not client.left
    assert client.waits[0] < client.waits[1] < client.waits[2], "backoff"
    assert len(client.said) == 3 and all("again in" in line for line in client.said), "a plain line for each wait"


def test_retry_after_is_obeyed(server, make):
    server.fault("/pdf/", "429:7", 1)
    client = make()
    get(client, f"/pdf/{ID}v1")
    assert client.waits == [7.0] and "as the server asks" in client.said[0]


@pytest.mark.parametrize("value", ["3600", "Wed, 21 Oct 2099 07:28:00 GMT"])
def test_a_retry_after_of_hours_ends_it(server, make, value):
    server.fault("/pdf/", f"429:{value}")
    client = make()
    with pytest.raises(Failed, match="more than is waited for"):
        get(client, f"/pdf/{ID}v1")
    assert server.asked("/pdf/") == 1


@pytest.mark.parametrize("value", ["soon", "-5", "Wed, 21 Oct 2015 07:28:00 GMT", "9" * 400])
def test_a_retry_after_that_makes_no_sense_does_no_harm(server, make, value):
    server.fault("/pdf/", f"429:{value}", 1)
    try:
        get(make(), f"/pdf/{ID}v1")
    except Failed as problem:
        assert "more than is waited for" in str(problem)


def test_what_is_not_there_is_asked_for_once(server, make):
    with pytest.raises(Failed) as problem:
        get(make(), "/pdf/2101.99999v1")
    assert problem.value.absent and server.asked("/pdf/") == 1


@pytest.mark.parametrize(("kind", "words"), [("redirect:https://example.org/paper.pdf", "none of the hosts"),
                                             ("redirect:file:///etc/passwd", "none of the hosts"), ("redirect", "redirects")])
def test_redirects_out_and_in_circles_are_refused(server, make, kind, words):
    server.fault("/pdf/", kind)
    with pytest.raises(Failed, match=words):
        get(make(), f"/pdf/{ID}v1")
    assert server.asked("/pdf/") <= 5


def test_caps_hold_whether_the_size_is_stated_or_not(server, make):
    client = make()
    with pytest.raises(Failed, match="are taken"):
        get(client, f"/pdf/{ID}v1", cap=100)
    server.fault("/pdf/", "huge")
    with pytest.raises(Failed, match="are taken"):
        get(client, f"/pdf/{ID}v1")
    assert not client.left


@pytest.mark.parametrize("kind", ["cut", "long"])
def test_half_a_body_is_never_taken(server, make, kind):
    server.fault("/pdf/", kind)
    client = make()
    with pytest.raises(Failed):
        get(client, f"/pdf/{ID}v1")
    assert not client.left and server.asked("/pdf/") == 4


def test_a_cut_is_mended_by_the_next_try(server, make):
    server.fault("/pdf/", "cut", 2)
    _, part = get(make(), f"/pdf/{ID}v1")
    assert part.read_bytes() == server.papers[ID].pdf


def test_a_body_that_is_not_what_it_claims_is_asked_for_again(server, make):
    server.fault("/pdf/", "page", 1)
    body, _ = get(make(), f"/pdf/{ID}v1", check=lambda path: None if path.read_bytes()[:4] == b"%PDF" else "no PDF")
    assert body.type == "application/pdf" and server.asked("/pdf/") == 2


def test_a_server_that_hangs_or_drips_does_not_hold_the_run(server, make):
    server.fault("/pdf/", "hang")
    client = make(PAPER2CODE_TIMEOUT="0.2")
    started = time.monotonic()
    with pytest.raises(Failed, match="did not answer"):
        get(client, f"/pdf/{ID}v1", tries=2)
    server.fault("/src/", "drip:0.02")
    client = make(PAPER2CODE_TIME_LIMIT="0.5")
    with pytest.raises(Failed, match="too slowly"):
        get(client, f"/src/{ID}v1")
    assert time.monotonic() - started < 20


def test_a_host_that_cannot_be_reached_is_given_up_at_once(make):
    client = make(PAPER2CODE_ARXIV_URL="http://nothing.invalid")
    for _ in range(2):
        with pytest.raises(Failed) as problem:
            get(client, "/pdf/x")
        assert problem.value.host
    assert not client.waits


def test_a_bad_certificate_is_not_accepted(server, make):
    client = make(PAPER2CODE_ARXIV_URL=server.url.replace("http:", "https:"))
    with pytest.raises(Failed, match="certificate") as problem:
        get(client, "/pdf/x")
    assert problem.value.host and not client.waits


@pytest.mark.parametrize(("name", "value"), [("PAPER2CODE_DELAY", "soon"), ("PAPER2CODE_DELAY", "-1"), ("PAPER2CODE_TIME_LIMIT", "nan"),
                                             ("PAPER2CODE_ARXIV_URL", "arxiv.org"), ("PAPER2CODE_HF_URL", "ftp://x")])
def test_settings_that_make_no_sense_are_told(make, name, value):
    with pytest.raises(cli.Stop) as stop:
        make(**{name: value})
    assert stop.value.code == cli.USAGE and name in stop.value.message


def test_two_processes_keep_one_rhythm(server, tmp_path):
    """Four requests of two processes started at once: none sooner than the delay after the one before."""
    code = textwrap.dedent(f"""
        import sys; sys.path.insert(0, {str(ROOT / 'scripts')!r})
        from paper2code.acquire.cache import Cache
        from paper2code.acquire.addresses import Addresses
        from paper2code.acquire.client import Client
        client = Client(Cache(), Addresses.given(), bar=False)
        for n in range(2):
            client.get(client.addresses.arxiv + "/pdf/{ID}v1", client.cache.part("x"), name="PDF", cap=1 << 20, check=lambda p: None)
    """)
    env = {**os.environ, **server.environ(), "PAPER2CODE_DELAY": "0.4", "PAPER2CODE_CACHE": str(tmp_path / "cache")}
    running = [subprocess.Popen([sys.executable, "-c", code], env=env) for _ in range(2)]
    assert [process.wait(60) for process in running] == [0, 0]
    times = sorted(at for at, _ in server.log)
    gaps = [later - earlier for earlier, later in zip(times, times[1:], strict=False)]
    assert len(gaps) == 3 and min(gaps) >= 0.4, gaps


def test_who_asks_is_told(monkeypatch):
    assert module.user_agent().startswith("paper2code/")
    monkeypatch.setenv("PAPER2CODE_CONTACT", "me@example.org")
    assert "(me@example.org)" in module.user_agent()
    monkeypatch.setenv("PAPER2CODE_CONTACT", "me\r\nX-Evil: 1")
    assert "\r" not in module.user_agent()


# --- the cache ----------------------------------------------------------------------------------------------------------


def put(cache: Cache, data: bytes, paper: ArxivId = PAPER, role: str = "pdf") -> Path:
    from paper2code.files import sha256

    part = cache.part(role)
    part.write_bytes(data)
    return cache.put(paper, Record(role, "http://x", "now", sha256(data), len(data), "pdf"), part)


def test_what_was_put_is_had_again(tmp_path):
    cache = Cache(tmp_path)
    put(cache, b"abc")
    record, body = cache.get(PAPER, "pdf")
    assert body.read_bytes() == b"abc" and record.size == 3
    assert cache.get(PAPER, "html") is None and cache.get(ArxivId(ID, 2), "pdf") is None


@pytest.mark.parametrize("harm", [lambda body: body.write_bytes(b"abd"), lambda body: body.write_bytes(b""), lambda body: body.unlink(),
                                  lambda body: (body.parent / "pdf.json").write_text("{", encoding="utf-8"),
                                  lambda body: (body.parent / "pdf.json").write_text('{"x": 1}', encoding="utf-8")])
def test_a_damaged_entry_is_found(tmp_path, harm):
    cache = Cache(tmp_path)
    harm(put(cache, b"abc"))
    assert cache.get(PAPER, "pdf") is None
    put(cache, b"abc")
    assert cache.get(PAPER, "pdf")[1].read_bytes() == b"abc"


def test_an_absence_is_believed_for_a_day(tmp_path):
    cache = Cache(tmp_path)
    cache.put(PAPER, Record("html", "http://x", "", absent="none"), None)
    assert cache.get(PAPER, "html")[1] is None
    old = time.time() - ABSENT_FOR - 10
    os.utime(cache.place(PAPER) / "html.json", (old, old))
    assert cache.get(PAPER, "html") is None
    assert cache.get(PAPER, "html", stale=True)[1] is None, "offline it is all there is to know"


def test_the_cache_is_bounded_and_keeps_what_was_used_last(tmp_path):
    cache = Cache(tmp_path)
    for number in range(1, 5):
        paper = ArxivId(ID, number)
        put(cache, b"x" * 1000, paper)
        os.utime(cache.place(paper), (number, number))
    left = cache.part("pdf")
    left.write_bytes(b"x")
    os.utime(left, (1, 1))
    cache.trim(ArxivId(ID, 1), limit=2600)
    assert cache.versions(PAPER) == [4, 1], "the paper in hand and the newest stay"
    assert not left.exists()
    os.utime(cache.place(ArxivId(ID, 4)))
    cache.trim(ArxivId(ID, 1), limit=0)
    assert cache.versions(PAPER) == [4, 1], "what was used just now may be in another process's hands"


def test_two_processes_may_put_at_once(tmp_path):
    code = textwrap.dedent(f"""
        import sys; sys.path[:0] = [{str(ROOT / 'scripts')!r}, {str(ROOT / 'tests')!r}]
        from pathlib import Path
        from test_acquisition_client import *
        cache = Cache(Path({str(tmp_path)!r}))
        for n in range(60):
            put(cache, bytes([n % 7]) * 5000)
            found = cache.get(PAPER, "pdf")
            assert found is None or len(set(found[1].read_bytes())) == 1
            cache.trim(PAPER, limit=0)
    """)
    running = [subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for process in running:
        assert process.wait(60) == 0, process.stderr.read()
