"""Build paper.pdf and paper.html from source/, as arXiv builds them: pdfLaTeX, and LaTeXML.

    python build.py             # writes paper.pdf, paper.html and source/main.bbl beside this file
    python build.py --check     # exit 1 where the source has changed since they were built

Needs pdflatex, bibtex, latexml and latexmlpost (TeX Live and LaTeXML 0.8.7); `--check` needs none of them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE, PDF, HTML, BUILT = HERE / "source", HERE / "paper.pdf", HERE / "paper.html", HERE / "built.json"
TOOLS = ("pdflatex", "bibtex", "latexml", "latexmlpost")
# A fixed clock, so that a rebuild of the same source gives the same file.
CLOCK = {"SOURCE_DATE_EPOCH": "1767225600", "FORCE_SOURCE_DATE": "1", "max_print_line": "500"}
NO_STAMP = r"\pdftrailerid{}\pdfinfoomitdate=1\pdfsuppressptexinfo=-1\input{main}"


def digest() -> str:
    """SHA-256 over the names and contents of the files of source/ that are written by hand."""
    total = hashlib.sha256()
    for path in sorted(SOURCE.rglob("*")):
        if path.suffix in (".tex", ".bib"):
            total.update(path.relative_to(SOURCE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


def call(*command: str, cwd: Path) -> None:
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **CLOCK}, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, encoding="utf-8", errors="replace")
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{(done.stdout + done.stderr)[-3000:]}")


def tidy(html: str) -> str:
    """The page without what differs from one build or machine to the next, styled as arXiv's pages are."""
    html = re.sub(r"<!--Generated on .*?-->", "", html, flags=re.S)
    html = re.sub(r'<div class="ltx_page_logo">.*?</div>', "", html, flags=re.S)
    html = re.sub(r'<link[^>]*rel="stylesheet"[^>]*>\s*', "", html)
    return "\n".join(line.rstrip() for line in html.splitlines() if line.strip()) + "\n"


def build() -> None:
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        sys.exit(f"not found: {', '.join(missing)}; install TeX Live and LaTeXML, or use the files that are here")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        shutil.copytree(SOURCE, work, dirs_exist_ok=True)
        latex = ("pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-jobname=main", NO_STAMP)
        call(*latex, cwd=work)
        call("bibtex", "main", cwd=work)
        for _ in range(3):
            call(*latex, cwd=work)
        call("latexml", "--quiet", "--destination=main.xml", "main.tex", cwd=work)
        call("latexmlpost", "--quiet", "--format=html5", "--pmml", "--mathtex", "--nodefaultresources", "--timestamp=0",
             "--destination=main.html", "main.xml", cwd=work)
        page = tidy((work / "main.html").read_text(encoding="utf-8"))
        if folder in page:
            sys.exit("the page names the folder it was built in")
        shutil.copyfile(work / "main.bbl", SOURCE / "main.bbl")
        shutil.copyfile(work / "main.pdf", PDF)
        HTML.write_text(page, encoding="utf-8", newline="\n")
    BUILT.write_text(json.dumps({"source": digest()}) + "\n", encoding="utf-8", newline="\n")
    print(f"{PDF.name}: {PDF.stat().st_size} bytes, {HTML.name}: {HTML.stat().st_size} bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say whether the built files belong to the source")
    if parser.parse_args().check:
        if json.loads(BUILT.read_text(encoding="utf-8"))["source"] != digest():
            sys.exit("source/ has changed since paper.pdf and paper.html were built: run build.py")
    else:
        build()


if __name__ == "__main__":
    main()
