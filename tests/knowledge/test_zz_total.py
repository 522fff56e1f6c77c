"""Runs last: how many values were compared with an independent reference."""

from knowledge.blocks import CHECKED, COMPARED, ROOT, fences


def test_enough_was_compared(request):
    """Counts what the tests of this folder compared in this run; says nothing when only some of them were run."""
    ran = {item.path.name for item in request.session.items}
    files = {path.name for path in (ROOT / "tests" / "knowledge").glob("test_*.py")}
    blocks = sum(1 for path in (ROOT / "knowledge").glob("*.md") for fence in fences(path) if fence.name)
    print(f"{len(COMPARED)} comparisons with references, {blocks} blocks, {len(CHECKED)} checked")
    if files <= ran and not request.config.option.keyword:
        assert len(COMPARED) >= 250
        assert len(CHECKED) == blocks
