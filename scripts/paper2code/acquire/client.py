"""One polite HTTP client: named hosts only, one request at a time and spaced for arXiv, bounded in time, size and tries.

A body goes to a file as it comes, and is taken for good only when it is what it claims to be.
"""

from __future__ import annotations

import hashlib
import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import requests
import tqdm
import urllib3
from paper2code import cli, workspace
from paper2code.acquire.addresses import Addresses, origin
from paper2code.acquire.cache import Cache
from urllib3.util.retry import Retry

TRIES = 4  # requests for one file, redirects not counted
REDIRECTS = 4
CONNECT, READ = 10.0, 30.0  # seconds
TOTAL = 600.0  # seconds for all requests of one run
EACH = 180.0  # seconds for one file, tries and waits included
LONGEST_WAIT = 120.0  # a server that asks for more is not waited for
AGAIN = frozenset({429, 500, 502, 503, 504})
CHUNK = 1 << 16


def setting(name: str, otherwise: float) -> float:
    """A number from the environment. Raises Stop (exit 2) when it is none."""
    given = os.environ.get(name)
    if not given:
        return otherwise
    try:
        number = float(given)
    except ValueError:
        number = -1.0
    if not 0 <= number < 1e6:
        raise cli.Stop(f"{name}={given!r} is not a number of seconds", code=cli.USAGE, expected="a number, 0 or more",
                       fix=f"unset {name}, or set it to {otherwise:g}")
    return number


def user_agent() -> str:
    """Who asks, and where its makers (or, by `PAPER2CODE_CONTACT`, its user) can be reached."""
    contact = os.environ.get("PAPER2CODE_CONTACT", "").strip() or workspace.homepage()
    return f"paper2code/{workspace.version()}" + (
        f" ({contact})" if contact.isascii() and contact.isprintable() and contact else ""
    )


class Failed(Exception):
    """A file could not be had. `absent`: the server says that there is none; `host`: the server itself is out of reach."""

    def __init__(self, why: str, *, absent: bool = False, host: bool = False):
        super().__init__(why)
        self.absent, self.host = absent, host


class Again(Exception):
    """This try failed; the next may not. `response`: to read Retry-After from."""

    def __init__(self, why: str, response: requests.Response | None = None):
        super().__init__(why)
        self.response = response


@dataclass(frozen=True)
class Body:
    url: str  # the last one, after redirects
    size: int
    sha256: str
    type: str
    time: str


class Client:
    """`get` brings one file. `polite` addresses share one connection and one rhythm among all processes of this user."""

    def __init__(self, cache: Cache, addresses: Addresses, *, say: Callable[[str], None] = cli.say, bar: bool = True):
        self.cache, self.addresses, self.say, self.bar = cache, addresses, say, bar
        self.delay = setting("PAPER2CODE_DELAY", 3.0)
        self.read = setting("PAPER2CODE_TIMEOUT", READ)
        self.ends = time.monotonic() + setting("PAPER2CODE_TIME_LIMIT", TOTAL)
        self.origins = addresses.origins()
        self.unreachable: dict[tuple, str] = {}
        self.session = requests.Session()
        self.session.trust_env = True  # proxies and certificate bundles of the user's own
        self.session.headers.update({
            "User-Agent": user_agent(), "Accept-Encoding": "identity"})

    def get(self, url: str, part: Path, *, name: str, cap: int, check: Callable[[Path], str | None], accept: str = "*/*",
            polite: bool = True, tries: int = TRIES, gone: Callable[[str], bool] = lambda url: False) -> Body:
        """Download `url` to `part`. `check` says what is wrong with the file, or None; `gone` tells a redirect that means
        "there is none". Raises Failed, with nothing left at `part`."""
        ends = min(self.ends, time.monotonic() + EACH)
        policy = Retry(total=tries - 1, backoff_factor=1.0, backoff_jitter=1.0, backoff_max=30.0)
        try:
            while True:
                try:
                    return self.once(
                        url, part, name=name, cap=cap, check=check, accept=accept, polite=polite, ends=ends, gone=gone
                    )
                except Again as problem:
                    try:
                        policy = policy.increment("GET", url, error=urllib3.exceptions.ProtocolError(str(problem)))
                    except (urllib3.exceptions.MaxRetryError, urllib3.exceptions.ProtocolError):
                        raise Failed(f"{problem}, {tries} times" if tries > 1 else str(problem)) from problem
                    asked = self.retry_after(policy, problem.response)
                    self.wait(max(policy.get_backoff_time(), asked, random.uniform(0.5, 1.0)), ends, name, str(problem), asked=asked)
        except BaseException:
            part.unlink(missing_ok=True)
            raise

    @staticmethod
    def retry_after(policy: Retry, response: requests.Response | None) -> float:
        """The seconds a server asks to wait for; 0 when it does not, or says it in no form that exists."""
        value = response.headers.get("Retry-After") if response is not None else None
        try:
            return max(0.0, policy.parse_retry_after(value)) if value else 0.0
        except (urllib3.exceptions.InvalidHeader, ValueError, OverflowError):
            return 0.0

    def wait(self, seconds: float, ends: float, name: str, why: str, *, asked: float = 0) -> None:
        if asked > LONGEST_WAIT or seconds >= ends - time.monotonic():
            raise Failed(f"{why}; the next try would be in {seconds:.0f} s, which is more than is waited for")
        self.say(f"{name}: {why}; again in {seconds:.0f} s" + (" (as the server asks)" if asked else ""))
        time.sleep(seconds)

    def once(self, url: str, part: Path, *, polite: bool, ends: float, gone: Callable[[str], bool], name: str, cap: int,
             check: Callable[[Path], str | None], accept: str) -> Body:
        """One try, redirects followed. Raises Again or Failed."""
        for _ in range(REDIRECTS + 1):
            where = origin(url)
            if where not in self.origins:
                raise Failed(f"it leads to {where[0]}://{where[1]}, which is none of the hosts that papers are taken from")
            if where in self.unreachable:
                raise Failed(self.unreachable[where], host=True)
            if time.monotonic() >= ends:
                raise Failed("no time left for it")
            try:
                with (
                    self.turn(ends) if polite else NO_TURN,
                    self.session.get(
                        url,
                        stream=True,
                        allow_redirects=False,
                        timeout=(min(CONNECT, self.read), self.read),
                        headers={"Accept": accept},
                    ) as response,
                ):
                    if response.is_redirect:
                        url = urljoin(url, response.headers["Location"])
                        if gone(url):
                            raise Failed("there is none", absent=True)
                        continue
                    return self.take(response, part, url=url, name=name, cap=cap, check=check, ends=ends)
            except requests.exceptions.SSLError as problem:
                self.unreachable[where] = f"the certificate of {where[1]} is not good ({reason(problem)})"
                raise Failed(self.unreachable[where], host=True) from problem
            except requests.exceptions.ConnectTimeout as problem:
                raise Again(f"{where[1]} does not answer") from problem
            except requests.exceptions.ReadTimeout as problem:
                raise Again(f"{where[1]} did not answer within {self.read:g} s") from problem
            except requests.exceptions.ConnectionError as problem:
                if unreachable := cannot_connect(problem):
                    self.unreachable[where] = f"{where[1]} cannot be reached ({unreachable})"
                    raise Failed(self.unreachable[where], host=True) from problem
                raise Again(f"the connection broke ({reason(problem)})") from problem
            except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError, ValueError) as problem:
                raise Again(f"the answer makes no sense ({reason(problem)})") from problem
        raise Failed(f"more than {REDIRECTS} redirects")

    def take(self, response: requests.Response, part: Path, *, url: str, name: str, cap: int,
             check: Callable[[Path], str | None], ends: float) -> Body:
        """Write the answer's body to `part` and judge it."""
        status = response.status_code
        if status in AGAIN:
            raise Again(f"{urlsplit(url).hostname} answers {status}" + (", too many requests" if status == 429 else ""), response)
        if status in (404, 410):
            raise Failed("there is none", absent=True)
        if status != 200:
            raise Failed(f"{urlsplit(url).hostname} answers {status}")
        stated = response.headers.get("Content-Length", "")
        total = int(stated) if stated.isdigit() else None
        if total is not None and total > cap:
            raise Failed(f"it has {total >> 20} MB, more than the {cap >> 20} MB that are taken")
        digest, size = hashlib.sha256(), 0
        try:
            with open(part, "wb") as file, tqdm.tqdm(
                total=total, unit="B", unit_scale=True, desc=name, leave=False, disable=None if self.bar else True, delay=1.0
            ) as bar:
                # The bytes as they were sent: a stream that is decoded on the way could be a bomb.
                while chunk := response.raw.read1(CHUNK, decode_content=False):
                    size += len(chunk)
                    if size > cap:
                        raise Failed(f"it has more than the {cap >> 20} MB that are taken")
                    if time.monotonic() > ends:
                        raise Failed("it came too slowly; no time left for it")
                    digest.update(chunk)
                    file.write(chunk)
                    bar.update(len(chunk))
                file.flush()
                os.fsync(file.fileno())
        except urllib3.exceptions.ReadTimeoutError as problem:
            raise Again(f"nothing came for {self.read:g} s") from problem
        except urllib3.exceptions.HTTPError as problem:
            raise Again(f"it broke off after {size} bytes") from problem
        if total is not None and size != total:
            raise Again(f"{size} of {total} bytes came")
        if wrong := check(part):
            raise Again(wrong)
        return Body(url, size, digest.hexdigest(), response.headers.get("Content-Type", ""), workspace.now())

    def turn(self, ends: float):
        return Turn(self, ends)


class Turn:
    """The right to be the one who talks to arXiv, not sooner than `delay` seconds after the last answer was there (or, when
    its process was killed, after its request began).

    Held until the answer is there: arXiv asks for one connection at a time and one request in three seconds, and means
    all of a user's processes.
    """

    def __init__(self, client: Client, ends: float):
        self.client, self.ends = client, ends
        self.lock = client.cache.lock("arxiv")
        self.stamp = client.cache.folder / "arxiv.last"

    def __enter__(self) -> None:
        try:
            self.lock.acquire(timeout=1)
        except TimeoutError:
            self.client.say("another paper2code is talking to arXiv; waiting for it")
            try:
                self.lock.acquire(timeout=max(0.0, self.ends - time.monotonic()))
            except TimeoutError as problem:
                raise Failed("another paper2code kept arXiv busy; no time left for it") from problem
        try:
            try:
                since = time.time() - self.stamp.stat().st_mtime
            except OSError:
                since = self.client.delay
            if 0 <= since < self.client.delay:  # a clock that was set back is no reason to wait
                time.sleep(self.client.delay - since)
            self.stamp.touch()
        except BaseException:
            self.lock.release()
            raise

    def __exit__(self, *problem: object) -> None:
        try:
            self.stamp.touch()
        finally:
            self.lock.release()


class NoTurn:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *problem: object) -> None:
        pass


NO_TURN = NoTurn()


def cannot_connect(problem: requests.exceptions.ConnectionError) -> str | None:
    """Why no connection came about, in words; None when one did and broke."""
    cause = getattr(problem.args[0], "reason", problem.args[0]) if problem.args else None
    if isinstance(cause, urllib3.exceptions.NameResolutionError):
        return "its name cannot be resolved: no network?"
    if isinstance(cause, urllib3.exceptions.ProxyError):
        return "the proxy does not let it through"
    if isinstance(cause, urllib3.exceptions.NewConnectionError):
        return "the connection is refused"
    return None


def reason(problem: BaseException) -> str:
    """The innermost cause of a chain of exceptions, short."""
    while problem.__cause__ or problem.__context__:
        problem = problem.__cause__ or problem.__context__
    return f"{type(problem).__name__}: {problem}"[:160]
