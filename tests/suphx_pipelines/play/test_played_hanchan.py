"""Whole games in a real browser by clicks that a person could make, against trained nets; what cannot be clicked."""

from __future__ import annotations

from pathlib import Path

import pytest

from suphx.games.riichi.play import GameSession
from suphx_cli import cli
from suphx_pipelines.play.riichi_server import PlayApp, PlayTables
from tests.browser import Browser
from tests.suphx_pipelines.play.clicking_player import (
    READY,
    ClickingPlayer,
    assert_saved,
    needs_chromium,
    play_to_the_end,
    tables,
)
from tests.suphx_platform.local_web.running_server import running_server

TRAINING = {
    "records.played_games": "24",
    "net.channels": "8",
    "net.num_blocks": "1",
    "supervised.batch_size": "128",
    "supervised.total_minutes": "0",
    "supervised.min_validations": "0",
    "supervised.max_epochs": "0",
    "supervised.max_steps": "60",
    "supervised.validate_every": "20",
    "split.max_test_samples": "300",
    "split.max_validation_samples": "100",
    "stream.num_workers": "0",
    "evaluation.hanchans": "8",
    "evaluation.workers": "1",
}


@pytest.fixture(scope="module")
def nets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of five nets that a small run of the recipe laptop has trained."""
    runs = tmp_path_factory.mktemp("runs")
    settings = [word for key, value in TRAINING.items() for word in ("--set", f"{key}={value}")]
    assert cli.main(["run", "laptop", "--runs", str(runs), "--quiet", *settings]) == 0
    (folder,) = runs.glob("laptop-*/supervised")
    return folder


def session_of(games: PlayTables, person: ClickingPlayer) -> GameSession:
    table = games.find(person.table)
    assert table is not None
    return table.session


@pytest.mark.slow
@needs_chromium
def test_a_hanchan_against_trained_nets_is_played_by_clicks_with_a_reload_in_the_middle(
    nets: Path, tmp_path: Path
) -> None:
    games = tables(tmp_path, str(nets), "hanchan")
    with running_server(PlayApp(games).asgi()) as server, Browser() as browser:
        person = ClickingPlayer(browser, server.link())
        person.page.press("h")  # hints, all the time
        play_to_the_end({person: session_of(games, person)}, seconds=900, reload_after=60)
        (record,) = tmp_path.iterdir()
        game = assert_saved(record, person.page)
        assert game.names[1:] == ("supervised 1", "supervised 2", "supervised 3")
        assert len(game.kyokus) >= 5 or min(game.final_scores) < 0
        viewer = browser.open(person.page.value("document.querySelector('#viewer').href"))
        viewer.wait("document.querySelectorAll('#moves li').length > 3")
        assert viewer.value("document.querySelector('#agent-name').textContent").endswith("supervised")


@pytest.mark.slow
@needs_chromium
def test_no_click_and_no_message_makes_an_illegal_move(tmp_path: Path) -> None:
    games = tables(tmp_path)
    with running_server(PlayApp(games).asgi()) as server, Browser() as browser:
        person = ClickingPlayer(browser, server.link())
        page, session = person.page, session_of(games, person)
        while not page.value("document.querySelector('.call.pass') !== null"):  # somebody's discard can be claimed
            person.click_something()
            page.wait(READY)
        before, number, offered, sent = list(session.actions), session.number, person.offered(), person.num_sent()
        assert page.value("document.querySelectorAll('#hand button').length") >= 13
        assert page.value("document.querySelectorAll('#hand button:enabled').length") == 0
        for place in range(1, 14):  # all tiles of the hand, although they are no buttons now
            page.press_at(f"#hand button:nth-child({place})")
        page.press("d")
        page.press("Enter")
        assert person.num_sent() == sent
        for action in sorted(set(range(-1, 122)) - offered):
            person.forge(type="move", number=number, action=action)
        person.forge(type="next", number=number)
        person.forge(type="move", number=number - 1, action=min(offered))
        page.wait("document.querySelector('#notice').innerText.includes('an earlier moment of the game')")
        assert (session.actions, session.number) == (before, number)
        assert page.click(".call.pass")
        page.wait(f"window.sent.at(-1).includes('\"number\":{number},')")
        page.wait(READY)
        assert session.actions[: len(before)] == before
        assert session.number == number + 1
