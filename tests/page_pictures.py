"""Write the pictures of pages in docs/pictures: ``python -m tests.page_pictures runs/RUN/report/game.html``.

The viewer at the third difference of a game, and the page of suphx play in the middle of a deal, each in both schemes.
``--tournament runs/RUN/report/report.html`` instead: the top of a tournament's report, and what its nights have shown.
Needs Chromium, as screenshot.py does.
"""

from __future__ import annotations

import argparse
import base64
import sys
import tempfile
from pathlib import Path

from PIL import Image

from suphx.selfplay.agents.agent import load_agent
from suphx_pipelines.play.play_app import PlayApp
from suphx_pipelines.play.play_config import PlayConfig
from suphx_pipelines.play.play_tables import PlayTables
from suphx_pipelines.play.seated_agents import AgentLoader
from tests.browser import Browser, Page
from tests.repository import REPOSITORY
from tests.screenshot import SCHEMES
from tests.suphx_pipelines.play.clicking_player import READY, ClickingPlayer
from tests.suphx_platform.local_web.running_server import running_server

PICTURES = REPOSITORY / "docs" / "pictures"
WIDTH, HEIGHT = 1280, 800
REPORT_WIDTH, REPORT_HEIGHT = 1200, 960
_NIGHTS_TO_STYLE = """(() => {
  const sections = [...document.querySelectorAll('section')];
  const section = (name) => sections.find((each) => each.querySelector('h2').innerText === name);
  const [first, last] = ['Nights', 'Style'].map((name) => section(name).getBoundingClientRect());
  return [first.top + scrollY, last.bottom + scrollY + 24];
})()"""
_COLOURS = 96
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
    """Write play-light.png and play-dark.png of a game against the baseline, with hints."""
    with tempfile.TemporaryDirectory() as space, Browser() as browser:
        config = PlayConfig(agent="ukeire", seed=1, length="tonpuu", out=Path(space))
        tables = PlayTables(config, AgentLoader("ukeire", load_agent))
        with running_server(PlayApp(tables).asgi()) as server:
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


def take_tournament(page: Path, folder: Path) -> None:
    """Write tournament-<scheme>.png, the top of a report, and tournament-nights-<scheme>.png, from nights to style."""
    with Browser() as browser:
        for scheme in SCHEMES:
            tab = browser.open(page.resolve().as_uri(), width=REPORT_WIDTH, height=REPORT_HEIGHT, scheme=scheme)
            tab.wait("document.readyState === 'complete'")
            _save(tab, folder / f"tournament-{scheme}.png")
            top, bottom = tab.value(_NIGHTS_TO_STYLE)
            clip = {"x": 0, "y": top, "width": REPORT_WIDTH, "height": bottom - top, "scale": 1}
            data = tab.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)["data"]
            path = folder / f"tournament-nights-{scheme}.png"
            path.write_bytes(base64.b64decode(data))
            _reduce(path)


def _save(page: Page, path: Path) -> None:
    """Write what is in view, with few colours for a small file."""
    page.picture(path)
    _reduce(path)


def _reduce(path: Path) -> None:
    with Image.open(path) as image:
        small = image.convert("RGB").quantize(_COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


def main() -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.page_pictures", description="Write pictures of the pages.")
    parser.add_argument(
        "page", type=Path, nargs="?", help="a viewer's page with an agent, such as runs/RUN/report/game.html"
    )
    parser.add_argument("--tournament", type=Path, help="the report of a tournament of at least the second night")
    given = parser.parse_args()
    if (given.page is None) == (given.tournament is None):
        parser.error("give either a viewer's page or --tournament REPORT")
    try:
        if given.tournament:
            take_tournament(given.tournament, PICTURES)
        else:
            take_viewer(given.page, PICTURES)
            take_play(PICTURES)
    except (OSError, RuntimeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
