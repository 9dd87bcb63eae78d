"""Write the pictures of pages in docs/pictures: ``python -m tests.pictures.page_pictures runs/RUN/report/game.html``.

The viewer at the third difference of a game, and the page of suphx play in the middle of a deal, each in both schemes.
``--report PAGE --name report`` instead: the top of a report (``--name tournament``: of a tournament). Needs Chromium.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from PIL import Image

from suphx.selfplay.agents.agent import load_agent
from suphx_pipelines.play.seated_game import Agents, PlayConfig
from suphx_pipelines.play.server import PlayTables, play_app
from tests.browser import SCHEMES, Browser, Page
from tests.repository import REPOSITORY
from tests.suphx_pipelines.play.clicking_player import READY, ClickingPlayer
from tests.suphx_platform.local_web.running_server import running_server

PICTURES = REPOSITORY / "docs" / "pictures"
WIDTH, HEIGHT = 1280, 800
REPORT_WIDTH, REPORT_TOP = 1200, 640
_COLOURS, _MOST_COLOURS = 96, 256
"""Of a picture; a heat map needs the most that a small file has."""
_DIFFERENCES = 3
_CLICKS = 9


def take_viewer(page: Path, folder: Path) -> None:
    """Write viewer-light.png and viewer-dark.png of a viewer's page with an agent."""
    with Browser() as browser:
        for scheme in SCHEMES:
            tab = browser.open(page.resolve().as_uri(), width=WIDTH, height=HEIGHT, scheme=scheme)
            tab.wait("document.querySelectorAll('#moves li').length > 0")
            for _ in range(_DIFFERENCES):
                tab.press("n")
            _save(tab, folder / f"viewer-{scheme}.png")


def take_play(folder: Path) -> None:
    """Write play-light.png and play-dark.png of a game against the scripted agent, with hints."""
    with tempfile.TemporaryDirectory() as space, Browser() as browser:
        config = PlayConfig(agent="ukeire", seed=1, length="tonpuu", out=Path(space))
        tables = PlayTables(config, Agents("ukeire", load_agent))
        with running_server(play_app(tables)) as server:
            person = ClickingPlayer(browser, server.link(), WIDTH, HEIGHT)
            person.page.press("h")
            while person.clicks < _CLICKS or person.page.value(
                "document.querySelector('#hand button:enabled') === null"
            ):
                person.click_something()
                person.page.wait(READY)
            person.page.wait("document.querySelector('.best') !== null")
            for scheme in SCHEMES:
                person.page.show_scheme(scheme)
                _save(person.page, folder / f"play-{scheme}.png")


def take_report(page: Path, folder: Path, name: str) -> None:
    """Write NAME-light.png and NAME-dark.png of a report from its top."""
    with Browser() as browser:
        for scheme in SCHEMES:
            tab = browser.open(page.resolve().as_uri(), width=REPORT_WIDTH, height=HEIGHT, scheme=scheme)
            tab.wait("document.readyState === 'complete'")
            path = folder / f"{name}-{scheme}.png"
            tab.picture(path, REPORT_TOP)
            _reduce(path, _MOST_COLOURS)


def _save(page: Page, path: Path) -> None:
    """Write what is in view, with few colours for a small file."""
    page.picture(path)
    _reduce(path)


def _reduce(path: Path, colours: int = _COLOURS) -> None:
    with Image.open(path) as image:
        small = image.convert("RGB").quantize(colours, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


def main() -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.pictures.page_pictures", description="Write pictures of the pages."
    )
    parser.add_argument(
        "page", type=Path, nargs="?", help="a viewer's page with an agent, such as runs/RUN/report/game.html"
    )
    parser.add_argument("--report", type=Path, help="a report.html")
    parser.add_argument("--name", default="report", help="of the pictures of the report")
    given = parser.parse_args()
    if (given.page is None) == (given.report is None):
        parser.error("give a viewer's page or --report PAGE")
    try:
        if given.report:
            take_report(given.report, PICTURES, given.name)
        else:
            take_viewer(given.page, PICTURES)
            take_play(PICTURES)
    except (OSError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
