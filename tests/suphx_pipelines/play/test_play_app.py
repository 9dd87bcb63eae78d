"""The play server as pages see it: real requests to a real server on loopback."""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENOSPC
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import numpy as np
import pytest

from suphx.games.riichi.archive.archive import iter_records, verify_records
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.table import RON
from suphx.selfplay.agents.agent import load_agent
from suphx_pipelines.play.seated_game import Agents, PlayConfig, SeatedAgent, SeatedGame
from suphx_pipelines.play.server import MAX_TABLES, PlayTables, play_app
from suphx_platform.local_web import LocalServer
from tests.suphx_pipelines.play.page_client import PageClient
from tests.suphx_platform.local_web.running_server import running_server


@contextmanager
def serving(out: Path, **settings: Any) -> Iterator[LocalServer]:
    config = PlayConfig(**{"agent": "ukeire", "seed": 1, "length": "tonpuu", "out": out, **settings})
    with running_server(play_app(PlayTables(config, Agents(config.agent, load_agent)))) as server:
        yield server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    with serving(tmp_path_factory.mktemp("games")) as server:
        yield server


def own_table(server: LocalServer) -> PageClient:
    """Return a page at a table where nobody else was."""
    page = PageClient(server)
    page.send(type="new")
    page.settle()
    return page


def fetch(address: str) -> tuple[str, Any]:
    with urllib.request.urlopen(address, timeout=30) as answer:
        return answer.read().decode(), answer.headers


def test_a_whole_game_is_saved_and_opens_in_the_viewer(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    with serving(tmp_path / "games", seat=2, name="Änne") as server, PageClient(server) as page:
        while not page.view["is_over"]:
            page.play(rng)
        view = page.view
        (record,) = (tmp_path / "games").iterdir()
        assert view["record"] == str(record)
        (game,) = iter_records([record], quarantine=Quarantine())
        assert list(game.final_scores or ()) == view["final"]
        assert game.names == ("ukeire 1", "ukeire 2", "Änne", "ukeire 3")
        report = verify_records([record], workers=1)
        assert (report.games, report.differences) == (1, 0)
        shown, _ = fetch(server.link(f"/game/{view['table']}"))
        data = json.loads(shown.split('id="data">')[1].split("</script>")[0])
        assert data["seat"] == 2
        assert data["game"]["final"] == view["final"]
        assert data["game"]["agent"] == "ukeire"
        page.send(type="move", number=view["number"], action=0)
        assert "not your turn" in page.refusal()
        page.send(type="new")
        assert page.settle()["table"] != view["table"]


def test_a_record_that_cannot_be_saved_is_told_at_the_end_of_the_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: SeatedGame) -> None:
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(SeatedGame, "finish", fail)
    rng = np.random.default_rng(0)
    with serving(tmp_path / "games") as server, PageClient(server) as page:
        while not page.view["is_over"]:
            page.play(rng)
        assert (page.view["record"], page.view["problem"]) == (None, "")
        assert "No space left on device" in page.view["save_problem"]
        assert fetch(server.link(f"/game/{page.view['table']}"))


def test_the_page_learns_while_the_game_cannot_be_saved(tmp_path: Path) -> None:
    folder, rng = tmp_path / "games", np.random.default_rng(0)
    folder.write_text("a file where the folder should be")
    with serving(folder) as server, PageClient(server) as page:
        page.play(rng)
        assert str(folder) in page.view["save_problem"]
        folder.unlink()
        page.play(rng)
        assert page.view["save_problem"] == ""


def test_the_page_has_the_words_and_no_foreign_script(server: LocalServer) -> None:
    text, headers = fetch(server.link())
    assert f"connect-src ws://127.0.0.1:{server.port}" in text
    assert "default-src 'none'" in text
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Frame-Options"] == "DENY"
    assert server.token not in text


def test_the_game_of_an_unknown_or_running_table_cannot_be_opened(server: LocalServer) -> None:
    with own_table(server) as page:
        for table in ("none", page.view["table"]):
            with pytest.raises(HTTPError, match="404"):
                fetch(server.link(f"/game/{table}"))


def test_an_illegal_or_stale_move_is_refused_and_changes_nothing(server: LocalServer) -> None:
    with own_table(server) as page:
        before = page.view
        page.play(np.random.default_rng(1))
        view = page.view
        for action in (RON, 500, -1):
            page.send(type="move", number=view["number"], action=action)
            assert "is not legal now: choose one of the moves that are offered" in page.refusal()
        page.send(type="next", number=view["number"])
        assert "not your turn" in page.refusal()
        page.send(type="move", number=before["number"], action=before["moves"][0]["action"])
        assert "an earlier moment of the game" in page.refusal()
        with PageClient(server, view["table"]) as other:
            assert other.view == view


def test_a_move_that_comes_while_the_game_is_saved_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    is_saving, may_end = threading.Event(), threading.Event()
    keep = SeatedGame.keep

    def slow_keep(game: SeatedGame) -> None:
        is_saving.set()
        may_end.wait(60)
        keep(game)

    monkeypatch.setattr(SeatedGame, "keep", slow_keep)
    with serving(tmp_path / "games", seat=0) as server, PageClient(server) as page:  # the dealer decides first
        assert is_saving.wait(60)
        view = page.view
        page.send(type="move", number=view["number"], action=view["moves"][0]["action"])
        may_end.set()
        assert page.receive()["type"] == "steps"


def test_games_of_a_server_that_stopped_go_on_in_the_next_one(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    with serving(tmp_path, seed=None) as server, own_table(server) as one, own_table(server) as two:
        for page in (one, two, one):
            page.play(rng)
        before = {page.view["id"]: page.view for page in (one, two)}
        with serving(tmp_path, seed=None) as beside, PageClient(beside) as other:
            assert other.view["id"] not in before  # these are being played
    assert len(before) == 2
    with serving(tmp_path, seed=None, continues=False) as server, PageClient(server) as page:
        assert page.view["id"] not in before
    with serving(tmp_path, seed=None) as server, own_table(server) as third:
        assert third.view["id"].endswith("-4"), "games 1 to 3 were begun before: no walls of a seed are dealt twice"
    with serving(tmp_path, seed=None) as server, PageClient(server) as first, PageClient(server) as second:
        for page in (first, second):
            old = before.pop(page.view["id"])
            if page.view["deal"]["result"] and not old["deal"]["result"]:
                page.play(rng)  # a deal that ended at once: its end is shown again, as going on is not a move
            for key in ("deal", "state", "moves", "finished", "names"):
                assert page.view[key] == old[key]
        while not first.view["is_over"]:
            first.play(rng)
        assert Path(first.view["record"]).is_file()
        assert not Path(first.view["record"]).with_suffix(".unfinished").exists()
        assert Path(first.view["record"]).with_name(f"{second.view['id']}.unfinished").exists()


def test_the_move_of_the_person_is_saved_before_agents_think(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = []
    monkeypatch.setattr(SeatedGame, "keep", lambda game: saved.append(game.session.is_agents_turn))
    with serving(tmp_path, seat=0) as server, PageClient(server) as page:  # the dealer decides first
        assert not any(saved)
        page.play(np.random.default_rng(8))
    assert any(saved)


def test_a_hint_is_one_of_the_legal_moves(server: LocalServer) -> None:
    with own_table(server) as page:
        page.send(type="hint", number=page.view["number"])
        hint = page.receive()
        assert hint["type"] == "hint"
        assert set(hint["best"]) <= {move["action"] for move in page.view["moves"]}
        assert hint["best"]
        assert hint["agent"] is not None
        page.send(type="hint", number=page.view["number"] - 1)
        assert "an earlier moment" in page.refusal()


@pytest.fixture
def slow_hint(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Lets hints wait until the event is set."""
    goes_on = threading.Event()
    monkeypatch.setattr(SeatedAgent, "hint", lambda *_: goes_on.wait(60) and {})
    yield goes_on
    goes_on.set()


def test_a_slow_hint_holds_up_no_move(tmp_path: Path, slow_hint: threading.Event) -> None:
    with serving(tmp_path) as server, PageClient(server) as page:
        number = page.view["number"]
        page.send(type="hint", number=number)
        page.play(np.random.default_rng(3))
        assert page.view["number"] > number
        assert not any(message["type"] == "hint" for message in page.messages)
        slow_hint.set()


def test_a_page_that_leaves_during_a_hint_gives_its_table_back(tmp_path: Path, slow_hint: threading.Event) -> None:
    with serving(tmp_path) as server:
        first = PageClient(server)
        first.send(type="hint", number=first.view["number"])
        first.close()
        for _ in range(500):  # until the server has noticed
            second = PageClient(server)
            second.close()
            if second.view["table"] == first.view["table"]:
                break
        assert second.view["table"] == first.view["table"]
        slow_hint.set()


def test_an_agent_that_follows_the_game_gives_its_hint_before_the_game_goes_on(
    tmp_path: Path, slow_hint: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SeatedAgent, "follows_game", True)
    with serving(tmp_path) as server, PageClient(server) as page:
        page.send(type="hint", number=page.view["number"])
        threading.Timer(0.5, slow_hint.set).start()
        count = len(page.messages)
        page.play(np.random.default_rng(3))
        assert page.messages[count]["type"] == "hint"


@pytest.mark.parametrize("error", [ValueError("no hints in this game"), RuntimeError("out of memory"), OSError()])
def test_a_hint_that_fails_has_its_reason_and_the_game_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(SeatedAgent, "hint", fail)
    with serving(tmp_path) as server, PageClient(server) as page:
        number = page.view["number"]
        page.send(type="hint", number=number)
        assert page.receive() == {"type": "hint", "number": number, "reason": str(error) or "OSError"}
        page.play(np.random.default_rng(3))
        assert page.view["number"] > number


def test_no_message_has_hidden_tiles(server: LocalServer) -> None:
    rng = np.random.default_rng(5)
    with own_table(server) as page:
        for _ in range(25):
            page.play(rng)
        for message in page.messages:
            states = [message["state"]] if "state" in message else [step["changes"] for step in message["steps"]]
            for state in states:
                for seat in {1, 2, 3} - set(state.get("open", message.get("state", {}).get("open", []))):
                    assert set(state.get(f"hand{seat}", [])) <= {-1}
            assert "wall" not in json.dumps(message)


def test_the_number_of_games_is_bounded(tmp_path: Path) -> None:
    with serving(tmp_path) as server, PageClient(server) as page:
        for _ in range(MAX_TABLES - 1):
            page.send(type="new")
            page.settle()
        page.send(type="new")
        assert f"there are already {MAX_TABLES} games" in page.refusal()


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[" * 4000,
        b'{"type": "new"}',  # a binary frame
        "[]",
        '{"type": "win"}',
        '{"type": "move", "number": true, "action": 0}',
        '{"type": "move", "number": 0, "action": 0, "discard": "x"}',
        '{"type": "sit", "table": 7}',
    ],
)
def test_what_no_page_sends_is_refused(server: LocalServer, text: str | bytes) -> None:
    with PageClient(server) as page:
        page.send_text(text)
        assert page.refusal()
