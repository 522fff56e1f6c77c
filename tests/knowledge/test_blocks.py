"""Every Python block in the documentation runs, and every block of knowledge has its check."""

import importlib
import re

import pytest
from knowledge.blocks import CHECKED, ROOT, fences, load, run

DOCUMENTS = sorted(path for path in ROOT.rglob("*.md") if not {".git", ".paper2code_work"} & set(path.parts)
                   and "examples" not in path.relative_to(ROOT).parts)
KNOWLEDGE = sorted((ROOT / "knowledge").glob("*.md"))


@pytest.mark.parametrize("file", [file for file in DOCUMENTS if any(not f.name for f in fences(file))], ids=lambda file: file.name)
def test_plain_blocks_run(file):
    namespace: dict = {}
    for fence in fences(file):
        if not fence.name:
            run(fence, namespace)


@pytest.mark.parametrize("file", [file for file in KNOWLEDGE if any(f.name for f in fences(file))], ids=lambda file: file.stem)
def test_knowledge_blocks_run_and_are_checked(file):
    load(file.stem)
    for module in sorted((ROOT / "tests" / "knowledge").glob("test_*.py")):
        importlib.import_module(f"knowledge.{module.stem}")
    names = [fence.name for fence in fences(file) if fence.name]
    assert len(names) == len(set(names)), "two blocks of one name"
    unchecked = [name for name in names if (file.stem, name) not in CHECKED]
    assert not unchecked, f"no check in tests/knowledge/ for the blocks {unchecked} of {file.name}"
    gone = [name for stem, name in CHECKED if stem == file.stem and name not in names]
    assert not gone, f"checks for blocks that {file.name} does not have: {gone}"


@pytest.mark.parametrize("file", KNOWLEDGE, ids=lambda file: file.stem)
def test_every_file_says_when_to_read_it(file):
    text = file.read_text(encoding="utf-8")
    assert re.match(r"# .+\n\nRead (when|before|once)\b", text), "the first paragraph begins with 'Read when …'"
