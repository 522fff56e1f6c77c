"""A stand-in for arXiv, its export API, ar5iv and Hugging Face on this machine, with faults on demand; and a paper to serve.

The paper is this project's own. `Standin` serves it under any id it is given; `fault("/pdf/", "503", 2)` makes the first two
requests for a PDF fail. What was asked for is in `log`.
"""

from __future__ import annotations

import gzip
import http.server
import io
import json
import random
import re
import socket
import tarfile
import threading
import time
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

TITLE = "Averaging the Last Weights of a Run"
ABSTRACT = ("We average the last weights of a training run. The average costs one copy of the weights and no further gradient. "
            "On three small problems it lowers the loss on held-out data in every run, and we say when it cannot.")
TEX = r"""\documentclass{article}
\newcommand{\avg}{\bar{\theta}}
\title{%s}
\author{Ada Example \and Ben Sample}
\begin{document}
\maketitle
\begin{abstract}
%s
\end{abstract}
\section{Introduction}
%s
\section{Method}
Let $\theta_t$ be the weights after step $t$. We keep the average of the last $k$ of them,
\begin{equation}
\avg = \frac{1}{k} \sum_{t=T-k+1}^{T} \theta_t ,
\label{eq:avg}
\end{equation}
and predict with $\avg$ as Equation~\ref{eq:avg} says. %s
\section{Experiments}
%s
\section{Conclusion}
The average of the last weights is cheap and helps. %s
\begin{thebibliography}{9}
\bibitem{one} A. Author. A first work on averages. Journal of Averages, 2001.
\bibitem{two} B. Author. A second work on averages. Journal of Averages, 2002.
\end{thebibliography}
\end{document}
"""
PROSE = ("The step size is held at one tenth for the whole run and the batch holds thirty two examples. We take the last hundred "
         "weights, which is a twentieth of the run, and found that any number between fifty and two hundred gives the same loss "
         "within its spread over five seeds. The weights are drawn from a normal distribution of standard deviation one fiftieth. "
         "No decay is used, since the average does what decay is for. Each run takes two minutes on one processor core. ")


def tex() -> str:
    return TEX % (TITLE, ABSTRACT, PROSE * 3, PROSE * 4, PROSE * 4, PROSE)


def html() -> bytes:
    def section(number: int, title: str, body: str) -> str:
        return (f'<section class="ltx_section" id="S{number}"><h2 class="ltx_title ltx_title_section"><span class="ltx_tag '
                f'ltx_tag_section">{number} </span>{title}</h2><div class="ltx_para"><p class="ltx_p">{body}</p></div></section>')

    equation = ('<table class="ltx_equation ltx_eqn_table" id="S2.E1"><tbody><tr class="ltx_equation ltx_eqn_row"><td class="ltx_eqn_cell">'
                r'<math class="ltx_Math" display="block" alttext="\bar{\theta}=\frac{1}{k}\sum_{t}\theta_{t}"><mi>x</mi></math></td>'
                '<td class="ltx_eqn_cell ltx_eqn_eqno"><span class="ltx_tag ltx_tag_equation ltx_align_right">(1)</span></td></tr>'
                "</tbody></table>")
    method = f'{PROSE * 2}</p></div>{equation}<div class="ltx_para"><p class="ltx_p">{PROSE * 2}'
    return (f'<!DOCTYPE html><html lang="en"><head><title>{TITLE}</title></head><body><div class="ltx_page_main"><div class='
            f'"ltx_page_content"><article class="ltx_document"><h1 class="ltx_title ltx_title_document">{TITLE}</h1>'
            f'<div class="ltx_abstract"><h6 class="ltx_title ltx_title_abstract">Abstract</h6><p class="ltx_p">{ABSTRACT}</p></div>'
            + section(1, "Introduction", PROSE * 3)
            + section(2, "Method", method) + section(3, "Experiments", PROSE * 4) + section(4, "Conclusion", PROSE)
            + '<section class="ltx_bibliography" id="bib"><h2 class="ltx_title ltx_title_bibliography">References</h2><ul class='
            '"ltx_biblist"><li class="ltx_bibitem" id="bib.bib1"><span class="ltx_tag ltx_tag_bibitem">[1]</span><span class='
            '"ltx_bibblock">A. Author. A first work on averages. 2001.</span></li></ul></section></article></div></div>'
            "</body></html>").encode()


def pdf(pages: int = 3, words: str = PROSE) -> bytes:
    """A PDF with the paper's text, or with nothing on its pages when `words` is empty."""
    import pymupdf

    document = pymupdf.open()
    heads = ["1 Introduction", "2 Method", "3 Experiments", "References"]
    for number in range(pages):
        page = document.new_page()
        if words:
            if number == 0:
                page.insert_text((72, 72), TITLE, fontsize=18)
                page.insert_textbox((72, 100, 540, 180), "Abstract\n" + ABSTRACT, fontsize=10)
            page.insert_text((72, 200), heads[number % len(heads)], fontsize=14, fontname="hebo")
            page.insert_textbox((72, 210, 540, 700), words * 4, fontsize=10)
    return document.tobytes()


def targz(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


@dataclass
class Served:
    """A paper on the stand-in. None for a form that it has not."""

    version: int = 1
    title: str = TITLE
    source: bytes | None = field(default_factory=lambda: targz({"main.tex": tex().encode()}))
    html: bytes | None = field(default_factory=html)
    ar5iv: bytes | None = None
    pdf: bytes | None = field(default_factory=pdf)
    hf: dict | None = None
    comments: str = ""
    withdrawn: bool = False


class Standin:
    """`with Standin({"2101.00001": Served()}) as server:` … `server.environ()` points paper2code at it."""

    def __init__(self, papers: dict[str, Served], certificate: tuple[str, str] | None = None):
        self.papers, self.certificate = papers, certificate
        self.log: list[tuple[float, str]] = []
        self.rules: list[list] = []
        self.done = threading.Event()

    def fault(self, prefix: str, kind: str, times: int = -1) -> None:
        self.rules.append([prefix, kind, times])

    def asked(self, prefix: str) -> int:
        return sum(path.startswith(prefix) for _, path in self.log)

    def environ(self) -> dict[str, str]:
        return {f"PAPER2CODE_{name}_URL": self.url + tail for name, tail in
                (("ARXIV", ""), ("EXPORT", ""), ("AR5IV", "/ar5iv"), ("HF", "/hf"), ("GITHUB", "/github"))}

    def __enter__(self) -> Standin:
        standin = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *unused) -> None:
                pass

            def do_HEAD(self) -> None:
                self.send_response(404)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def do_GET(self) -> None:
                try:
                    standin.answer(self)
                except (ConnectionError, TimeoutError):
                    self.close_connection = True

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *unused) -> None:
                """A client that went away is what half of these tests are about."""

        self.server = Server(("127.0.0.1", 0), Handler)
        scheme = "http"
        if self.certificate:
            import ssl

            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self.certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            scheme = "https"
        self.url = f"{scheme}://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *unused) -> None:
        self.done.set()
        self.server.shutdown()
        self.server.server_close()

    def answer(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        path = unquote(urlsplit(handler.path).path)
        self.log.append((time.time(), handler.path))
        kind = ""
        for rule in self.rules:
            if path.startswith(rule[0]) and rule[2]:
                rule[2] -= 1
                kind = rule[1]
                break
        status, type, body, headers = self.body(path, parse_qs(urlsplit(handler.path).query))
        name, _, value = kind.partition(":")
        if name in ("500", "502", "503", "404", "403", "429"):
            status, body, headers = int(name), b"<html>no</html>", {"Retry-After": value} if value else {}
        elif name == "hang":
            self.done.wait(60)
            return
        elif name == "slow":
            time.sleep(float(value))
        elif name == "redirect":
            status, body, headers = 302, b"", {"Location": value or handler.path}
        elif name == "page":
            body, type = b"<!DOCTYPE html><html><body>" + b"Are you a robot? " * 60 + b"</body></html>", "text/html"
        elif name == "empty":
            body = b""
        elif name == "garbage":
            body = random.Random(7).randbytes(50_000)
        elif name == "huge":
            body, headers = b"", {"Content-Length": str(10 << 30)}
        handler.send_response(status)
        handler.send_header("Content-Type", type)
        if name == "long":
            headers = {"Content-Length": str(len(body) + 1000)}
        if name == "drip":  # a byte now and then: every read succeeds, the file never ends
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            for byte in body:
                if self.done.wait(float(value)):
                    break
                handler.wfile.write(bytes([byte]))
            return
        handler.send_header("Content-Length", headers.pop("Content-Length", str(len(body))))
        for key, content in headers.items():
            handler.send_header(key, content)
        handler.end_headers()
        handler.wfile.write(body[: len(body) // 2] if name == "cut" else body)
        if name in ("cut", "long", "huge"):
            handler.wfile.flush()
            handler.close_connection = True
            handler.connection.shutdown(socket.SHUT_RDWR)

    def body(self, path: str, query: dict) -> tuple[int, str, bytes, dict]:
        missing = (404, "text/html", b"<html><body>Not found</body></html>", {})
        if path == "/api/query":
            return 200, "application/atom+xml", self.feed(query.get("id_list", [""])[0]), {}
        found = re.fullmatch(r"/(abs|pdf|src|html|ar5iv/html|hf/api/papers)/(.+?)(?:v(\d+))?", path)
        paper = self.papers.get(found[2]) if found else None
        if paper is None or found[3] and int(found[3]) > paper.version:
            return missing
        kind = found[1]
        if kind == "abs":
            return 200, "text/html; charset=utf-8", self.page(found[2], paper), {}
        if kind == "hf/api/papers":
            return (200, "application/json", json.dumps(paper.hf).encode(), {}) if paper.hf else missing
        if kind == "ar5iv/html" and paper.ar5iv is None:
            return 307, "text/html", b"", {"Location": f"{self.url}/abs/{found[2]}"}
        body = {"pdf": paper.pdf, "src": paper.source or paper.pdf, "html": paper.html, "ar5iv/html": paper.ar5iv}[kind]
        if body is None or paper.withdrawn:
            return missing
        return 200, {"pdf": "application/pdf", "src": "application/gzip"}.get(kind, "text/html"), body, {}

    def feed(self, asked: str) -> bytes:
        id, _, version = re.fullmatch(r"(.+?)(v(\d+))?", asked).groups()
        paper = self.papers.get(id)
        entry = ""
        if id == "0704.9999":  # this one the API calls malformed
            entry = ("<entry><id>http://arxiv.org/api/errors#incorrect_id_format</id><title>Error</title>"
                     "<summary>incorrect id format</summary></entry>")
        elif paper and int(version or 1) <= paper.version:
            comment = f"<arxiv:comment>{escape(paper.comments)}</arxiv:comment>" if paper.comments else ""
            entry = (f"<entry><id>http://arxiv.org/abs/{id}v{version or paper.version}</id><updated>2021-03-02T10:00:00Z</updated>"
                     f"<published>2021-01-02T10:00:00Z</published><title>{escape(paper.title)}</title><summary>{ABSTRACT}</summary>"
                     f"<author><name>Ada Example</name></author><author><name>Ben Sample</name></author>{comment}"
                     '<arxiv:primary_category term="cs.LG"/><category term="cs.LG"/><category term="stat.ML"/></entry>')
        return ('<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom" '
                f'xmlns:arxiv="http://arxiv.org/schemas/atom"><title>ArXiv Query</title>{entry}</feed>').encode()

    def page(self, id: str, paper: Served) -> bytes:
        history = "".join(f"<strong>[v{v}]</strong> Sat, 2 Jan 2021 10:00:0{v % 10} UTC (1,2{v % 10}4 KB)<br/>"
                          for v in range(1, paper.version + 1))
        banner = '<span class="error">This paper has been withdrawn by Ada Example</span>' if paper.withdrawn else ""
        return (f'<!DOCTYPE html><html><head><meta name="citation_title" content="{escape(paper.title)}"/><meta name='
                f'"citation_author" content="Example, Ada"/><meta name="citation_arxiv_id" content="{id}"/></head><body>{banner}'
                f'<h1 class="title mathjax"><span class="descriptor">Title:</span>{escape(paper.title)}</h1><blockquote class='
                f'"abstract mathjax"><span class="descriptor">Abstract:</span>{ABSTRACT}</blockquote><table><tr>'
                f'<td class="tablecell comments mathjax">{escape(paper.comments)}</td><td class="tablecell subjects">'
                '<span class="primary-subject">Machine Learning (cs.LG)</span></td></tr></table><div class="abs-license"><a href='
                f'"http://creativecommons.org/licenses/by/4.0/">license</a></div><div class="submission-history">{history}</div>'
                "</body></html>").encode()


def lone(text: str) -> bytes:
    """A lone .tex as arXiv serves it: gzipped, without a tar around it."""
    return gzip.compress(text.encode())
