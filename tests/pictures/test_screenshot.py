"""The command for pictures of pages, with a real Chromium where there is one."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from tests.pictures import screenshot
from tests.repository import REPOSITORY

HAS_CHROMIUM = any(shutil.which(name) for name in screenshot.PROGRAMS)
needs_chromium = pytest.mark.skipif(not HAS_CHROMIUM, reason="no Chromium: run apt-get install chromium")

PAGE = """<!DOCTYPE html><style>:root { color-scheme: light dark }
body { margin: 0; height: 900px; background: rgb(255, 0, 0) }
@media (max-width: 500px) { body { background: rgb(0, 0, 255) } }
@media (prefers-color-scheme: dark) { body { background: rgb(0, 255, 0) } }</style><body></body>"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_text(PAGE, encoding="utf-8")
    return path


def test_the_error_says_which_program_is_missing(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(page.parent))
    with pytest.raises(FileNotFoundError, match="apt-get install chromium"):
        screenshot.take(page, page.with_suffix(".png"))


def test_the_error_says_which_page_is_missing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.pictures.screenshot", str(tmp_path / "no.html"), str(tmp_path / "no.png")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=REPOSITORY)
    assert done.returncode == 1
    assert "no.html does not exist" in done.stderr


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize(
    ("width", "scheme", "colour"),
    [(700, "light", (255, 0, 0)), (400, "light", (0, 0, 255)), (700, "dark", (0, 255, 0))],
)
def test_a_picture_has_the_width_and_the_scheme_that_were_asked_for(
    page: Path, width: int, scheme: str, colour: tuple[int, int, int]
) -> None:
    picture = page.with_suffix(".png")
    screenshot.take(page, picture, width=width, scheme=scheme)
    with Image.open(picture) as image:
        assert image.size == (width, 900)
        assert image.getpixel((10, 10)) == colour


@pytest.mark.slow
@needs_chromium
def test_a_page_that_is_too_wide_is_measured(page: Path) -> None:
    assert screenshot.page_size(page, 400) == (400, 900)
    page.write_text(PAGE.replace("<body>", '<body><div style="width:777px">x</div>'), encoding="utf-8")
    assert screenshot.page_size(page, 400) == (777, 900)
