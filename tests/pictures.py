"""Make the pictures that the repository ships: the icon, and the screenshot of the report in README.

    python3 tests/pictures.py                    the icon
    python3 tests/pictures.py report.html        also docs of it: .claude-plugin/report.png, with Chromium on PATH
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageDraw

HERE = Path(__file__).resolve().parent.parent / ".claude-plugin"
SIDE = 1024
INK, PAPER, GOOD = "#16324f", "#f7f4ec", "#2f8f4e"


def icon() -> None:
    """A page with lines of text beside a column of code, joined by a tick."""
    picture = Image.new("RGB", (SIDE, SIDE), INK)
    draw = ImageDraw.Draw(picture)
    draw.rounded_rectangle((150, 130, 560, 894), 36, fill=PAPER)
    for at, width in enumerate((300, 300, 220, 300, 260, 300, 180)):
        draw.rounded_rectangle((205, 230 + at * 86, 205 + width, 258 + at * 86), 14, fill=INK)
    for at, (indent, width) in enumerate(((0, 180), (50, 210), (50, 150), (100, 170), (50, 190), (0, 120), (0, 200))):
        draw.rounded_rectangle((620 + indent, 230 + at * 86, 620 + indent + width, 258 + at * 86), 14, fill="#8fb8de")
    draw.ellipse((430, 620, 740, 930), fill=GOOD, outline=INK, width=24)
    draw.line((505, 780, 565, 845, 675, 705), fill=PAPER, width=46, joint="curve")
    picture.resize((512, 512), Image.LANCZOS).save(HERE / "icon.png", optimize=True)


def screenshot(page: Path) -> None:
    chromium = next((path for name in ("chromium", "google-chrome") if (path := shutil.which(name))), None)
    if chromium is None:
        sys.exit("no Chromium on PATH")
    with tempfile.TemporaryDirectory() as folder:
        profile, shot = f"--user-data-dir={folder}", f"--screenshot={folder}/shot.png"
        subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1360,860", profile, shot,
                        page.resolve().as_uri()], check=True, capture_output=True)
        Image.open(f"{folder}/shot.png").convert("P", palette=Image.Palette.ADAPTIVE, colors=128).save(HERE / "report.png", optimize=True)


if __name__ == "__main__":
    icon()
    if len(sys.argv) > 1:
        screenshot(Path(sys.argv[1]))
