"""Write the pictures of pages in docs/pictures: ``python -m tests.pictures.page_pictures runs/RUN/report/game.html``.

The viewer at the third difference of a game, and the page of suphx play in the middle of a deal, each in both schemes.
``--nights runs/RUN`` instead: the report of a tournament of three nights, which is played with the nets of a run of the
recipe self_play (minutes on two idle cores).
``--report PAGE``: the top of a report. Needs Chromium.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

from suphx.games.riichi.names import HEAD_NAMES
from suphx.selfplay.agents.agent import load_agent
from suphx_pipelines.play.riichi_table import TABLE
from suphx_pipelines.play.seated_game import Agents, PlayConfig
from suphx_pipelines.play.server import PlayTables, play_app
from tests.browser import SCHEMES, Browser, Page
from tests.repository import REPOSITORY
from tests.suphx_pipelines.play.clicking_player import READY, ClickingPlayer
from tests.suphx_platform.local_web.running_server import running_server

PICTURES = REPOSITORY / "docs" / "pictures"
WIDTH, HEIGHT = 1280, 800
REPORT_WIDTH, REPORT_TOP = 1200, 640
_END_OF_STYLE = """(() => {
  const sections = [...document.querySelectorAll('section')];
  return sections.find((each) => each.querySelector('h2').innerText === 'Style').getBoundingClientRect().bottom + 24;
})()"""
STAGES = ("supervised", "playouts", "reinforcement")
_FIRST_NIGHT = 22
NIGHT = (
    *("--set", "leaderboard.games=120", "--set", "decision.games=480", "--set", "decision.fresh_games=200"),
    *("--set", "decision.test.difference=0.2", "--set", "decision.test.error=0.05"),
)
"""Settings of a night, so that it takes about a minute."""
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
        tables = PlayTables(config, Agents(TABLE, "ukeire", load_agent))
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


def play_nights(run: Path, space: Path) -> Path:
    """Play three nights in ``space`` with nets of ``run``, one more stage each night; return the last report."""
    programs = Path(sys.executable).parent
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"  # so that the page calls suphx by its name
    for night, stage in enumerate(STAGES, _FIRST_NIGHT):
        for nets in (run / stage).rglob("*.safetensors"):
            if set(nets.relative_to(run / stage).parts[:-1]) <= set(HEAD_NAMES) and nets.stem in HEAD_NAMES:
                copy = space / "runs" / run.name / nets.relative_to(run)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(nets, copy)  # newer than those of the nights before
        command = [
            str(programs / "suphx"),
            "tournament",
            "nightly",
            "--json",
            "--set",
            f"night=2026-11-{night}",
            *NIGHT,
        ]
        done = subprocess.run(
            command, cwd=space, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, "PATH": path}
        )
        report = str(json.loads(done.stdout.splitlines()[-1])["report"])
    return space / report


def take_report(page: Path, folder: Path, name: str, height: str) -> None:
    """Write NAME-light.png and NAME-dark.png of a report from its top; ``height``: an expression for pixels."""
    with Browser() as browser:
        for scheme in SCHEMES:
            tab = browser.open(page.resolve().as_uri(), width=REPORT_WIDTH, height=HEIGHT, scheme=scheme)
            tab.wait("document.readyState === 'complete'")
            path = folder / f"{name}-{scheme}.png"
            tab.picture(path, tab.value(height))
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
    parser.add_argument("--nights", type=Path, help="a run of the recipe self_play, whose nets play three nights")
    parser.add_argument("--report", type=Path, help="a report.html")
    given = parser.parse_args()
    if [given.page, given.nights, given.report].count(None) != 2:
        parser.error("give a viewer's page, --nights RUN or --report PAGE")
    try:
        if given.nights:
            with tempfile.TemporaryDirectory() as space:
                take_report(play_nights(given.nights, Path(space)), PICTURES, "tournament", _END_OF_STYLE)
        elif given.report:
            take_report(given.report, PICTURES, "report", str(REPORT_TOP))
        else:
            take_viewer(given.page, PICTURES)
            take_play(PICTURES)
    except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
