"""A comparison as a small self-contained SVG: own runs as dots, their mean, the interval, the paper's number."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from paper2code.reproduce.statistics import Comparison

WIDTH, ROW, SIDE = 640, 78, 20
MINE, PAPER = "#1f5f99", "#b3401f"


def svg(rows: Sequence[tuple[Comparison, Sequence[float]]]) -> str:
    """One band for each metric, each with its own scale."""
    height = ROW * len(rows) + 34
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
    parts = [f'{head} font-family="sans-serif" font-size="12">', "<title>My runs beside the paper's numbers</title>",
             f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>']
    for at, (one, values) in enumerate(rows):
        parts += band(one, values, 24 + at * ROW)
    legend = "dots: my runs · bar: where the paper's number should fall · diamond: the paper's number"
    parts.append(f'<text x="{SIDE}" y="{height - 10}" fill="#555">{legend}</text></svg>')
    return "\n".join(parts) + "\n"


def band(one: Comparison, values: Sequence[float], top: float) -> list[str]:
    low, high = one.interval if one.interval and one.interval_of == "paper's number" else (min(values), max(values))
    points = [*values, one.reported.value, low, high]
    least, most = min(points), max(points)
    margin = (most - least) * 0.06 or abs(most) * 0.01 or 1.0
    least, most = least - margin, most + margin

    def x(value: float) -> float:
        return SIDE + (value - least) / (most - least) * (WIDTH - 2 * SIDE)

    middle, paper, mean = top + 28, x(one.reported.value), x(one.mean)
    dots = [f'<circle cx="{x(value):.1f}" cy="{middle}" r="4" fill="{MINE}" fill-opacity="0.7"/>' for value in values]
    return [
        f'<text x="{SIDE}" y="{top}" font-weight="bold">{escape(one.metric)}</text>',
        f'<text x="{WIDTH - SIDE}" y="{top}" text-anchor="end">{escape(one.verdict)}</text>',
        f'<line x1="{SIDE}" x2="{WIDTH - SIDE}" y1="{middle}" y2="{middle}" stroke="#bbb"/>',
        f'<rect x="{x(low):.1f}" y="{middle - 8}" width="{max(1.0, x(high) - x(low)):.1f}" height="16" fill="#cfe3f5"/>',
        *dots,
        f'<line x1="{mean:.1f}" x2="{mean:.1f}" y1="{middle - 11}" y2="{middle + 11}" stroke="{MINE}" stroke-width="2"/>',
        f'<path d="M{paper:.1f} {middle - 9}l7 9l-7 9l-7 -9z" fill="{PAPER}"/>',
        f'<text x="{paper:.1f}" y="{middle + 24}" text-anchor="middle" fill="{PAPER}">paper {one.reported.value:g}</text>',
        f'<text x="{SIDE}" y="{middle + 24}" fill="{MINE}">mean {one.mean:.4g}</text>',
    ]
