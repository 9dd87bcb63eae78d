"""One game: walls, length, its files, and its agents: also nets that adapt and outside programs, with hints."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from suphx.games.riichi.archive.archive import verify_records
from suphx.games.riichi.play import GameSession
from suphx.games.riichi.tile import face_name
from suphx.selfplay.agents.agent import load_agent
from suphx_pipelines.play.seated_game import Agents, PlayConfig, SeatedGame, continued_games
from suphx_platform.agents.agent_loading import load_any_agent
from tests.disk_faults import files_limited_to
from tests.selfplay.small_policy_set import save_random
from tests.suphx_platform.agents.mjai.bot_program import bot


def test_the_same_seed_gives_the_same_walls_and_the_next_game_others() -> None:
    loader = Agents("ukeire", load_agent)

    def first_hand(seed: int | None, game: int) -> list[int]:
        seated = SeatedGame.new(PlayConfig(agent="ukeire", seed=seed), loader, game)
        hand: list[int] = seated.session.view()["state"]["hand0"]
        return hand

    assert first_hand(3, 0) == first_hand(3, 0) == first_hand(2, 1)
    assert first_hand(3, 0) != first_hand(3, 1)
    assert first_hand(None, 0) != first_hand(None, 0)


def play(session: GameSession, moves: int) -> None:
    """Make this many of the person's moves: the first that is offered; then let the others play."""
    for _ in range(moves):
        to_the_person(session)
        if session.is_over:
            return
        if session.is_between_deals:
            session.next_deal(session.number)
        else:
            move = session.view()["moves"][0]
            session.move(session.number, move["action"], move["discards"][0] if move["discards"] else None)
    to_the_person(session)


def to_the_person(session: GameSession) -> None:
    while session.is_agents_turn:
        session.play_agent()


@pytest.fixture
def config(tmp_path: Path) -> PlayConfig:
    return PlayConfig(agent="ukeire", name="Änne", seed=4, seat=1, length="tonpuu", out=tmp_path / "games")


@pytest.fixture
def loader() -> Agents:
    return Agents("ukeire", load_agent)


def unfinished(config: PlayConfig) -> Iterator[Path]:
    return config.out.glob("*.unfinished")


def test_a_game_goes_on_where_it_was_broken_off_however_often(config: PlayConfig, loader: Agents) -> None:
    game = SeatedGame.new(config, loader)
    while not game.session.is_over:
        play(game.session, 7)
        game.keep()
        view, number = game.session.view(), len(game.session.actions)
        if game.session.is_over:
            break
        game.close()
        (game,) = continued_games(replace(config, seed=None), loader)
        assert game.session.view() | {"number": view["number"]} == view
        assert len(game.session.actions) == number
    record = game.finish()
    assert [path.name for path in config.out.iterdir()] == [record.name]
    report = verify_records([record], workers=1)
    assert (report.games, report.differences) == (1, 0)
    assert resumable(config, loader) == []


def test_a_disk_that_is_full_at_the_first_move_costs_only_that_save(
    config: PlayConfig, loader: Agents, caplog: pytest.LogCaptureFixture
) -> None:
    game = SeatedGame.new(config, loader)
    play(game.session, 2)
    with files_limited_to(20):
        game.keep()
    assert "the game would be lost if the command stopped now" in caplog.text
    assert list(unfinished(config)) == []
    game.keep()
    game.close()
    assert resumable(config, loader) == [game.session.id]


def resumable(config: PlayConfig, loader: Agents) -> list[str]:
    """Return the ids of the games that go on with these settings."""
    found = []
    for game in continued_games(config, loader):
        found.append(game.session.id)
        game.close()
    return found


def test_a_game_in_which_the_person_has_not_moved_is_not_kept(config: PlayConfig, loader: Agents) -> None:
    game = SeatedGame.new(config, loader)
    to_the_person(game.session)
    game.keep()
    assert not config.out.exists()


def broken_off(config: PlayConfig, loader: Agents, moves: int = 5) -> Path:
    """Return the file of a game that was broken off after a few moves."""
    game = SeatedGame.new(config, loader)
    play(game.session, moves)
    game.keep()
    game.close()
    (path,) = unfinished(config)
    return path


def test_a_line_that_was_not_written_to_its_end_is_left_out(config: PlayConfig, loader: Agents) -> None:
    path = broken_off(config, loader)
    whole = path.read_bytes()
    path.write_bytes(whole + b"[12, 3")
    (game,) = continued_games(config, loader)
    assert path.read_bytes() == whole
    play(game.session, 2)
    game.keep()
    game.close()
    kept = [action for line in path.read_text().splitlines()[1:] for action in json.loads(line)]
    assert kept == game.session.actions


@pytest.mark.parametrize("change", [{"agent": "random"}, {"seat": 0}, {"length": "hanchan"}, {"seed": 5}])
def test_only_a_game_of_the_same_settings_goes_on(change: dict[str, Any], config: PlayConfig, loader: Agents) -> None:
    path = broken_off(config, loader)
    assert resumable(replace(config, **change), loader) == []
    assert resumable(config, loader) == [path.stem]


def test_the_second_game_of_a_seed_goes_on_with_that_seed(config: PlayConfig, loader: Agents) -> None:
    game = SeatedGame.new(config, loader, 1)
    play(game.session, 5)
    game.keep()
    game.close()
    assert resumable(replace(config, seed=5), loader) == []  # its walls are those of seed 5, but of another command
    (again,) = continued_games(config, loader)
    assert (again.session.seed, again.settings.game) == (5, 1)
    again.close()


def test_a_game_that_another_command_plays_is_left_to_it(config: PlayConfig, loader: Agents) -> None:
    path = broken_off(config, loader)
    (game,) = continued_games(config, loader)
    assert resumable(config, loader) == []
    game.close()
    assert resumable(config, loader) == [path.stem]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]\n",
        "[" * 100_000 + "\n",
        '{"id": "%s", "agent": "ukeire", "name": "A", "seat": "1", "length": "tonpuu", "seed": 4}\n',
        '{"id": "../../x", "agent": "ukeire", "name": "A", "seat": 1, "length": "tonpuu", "seed": 4}\n',
        '{"id": "%s", "agent": "ukeire", "name": "A", "seat": 1, "length": "tonpuu", "seed": 4}\n["a"]\n',
        '{"id": "%s", "agent": "ukeire", "name": "A", "seat": 1, "length": "tonpuu", "seed": -1}\n[]\n',
    ],
)
def test_a_damaged_file_is_named_and_left(
    content: str, config: PlayConfig, loader: Agents, caplog: pytest.LogCaptureFixture
) -> None:
    path = broken_off(config, loader)
    damaged = content.replace("%s", path.stem)
    path.write_text(damaged)
    assert resumable(config, loader) == []
    assert path.stem in caplog.text
    assert path.read_text() == damaged


def play_to_the_end(
    session: GameSession, rng: np.random.Generator, before: Callable[[GameSession], None] | None = None
) -> None:
    """Play until the game is over; ``before`` is called at each decision of the person."""
    to_the_person(session)
    while not session.is_over:
        if session.is_between_deals:
            session.next_deal(session.number)
        else:
            if before is not None:
                before(session)
            moves = session.view()["moves"]
            move = moves[int(rng.integers(len(moves)))]
            session.move(session.number, move["action"], move["discards"][0] if move["discards"] else None)
        to_the_person(session)


def seated(agent: str, out: Path, seed: int = 3) -> SeatedGame:
    """Return a new game against an agent; the person is the first dealer."""
    config = PlayConfig(agent=agent, seed=seed, length="tonpuu", out=out)
    return SeatedGame.new(config, Agents(agent, partial(load_any_agent, game="riichi")), 0)


def assert_record(game: SeatedGame) -> None:
    report = verify_records([game.finish()], workers=1)
    assert (report.games, report.differences) == (1, 0)


def test_a_program_plays_a_whole_game_and_gives_its_own_answer_as_hint(tmp_path: Path) -> None:
    others = psutil.Process().children()
    game = seated(bot("lowest"), tmp_path)
    hints = 0

    def ask(session: GameSession) -> None:
        """Compare the hint with what this program does: it discards the first tile by name."""
        nonlocal hints
        view = session.view()
        hint = game.hint(session.number, session.decision(session.number))
        assert hint == game.hint(session.number, session.decision(session.number))
        chosen = hint["moves"][hint["agent"]]
        if any(move["move"] == "pass" for move in view["moves"]):
            assert chosen["move"] == "pass"
        elif not view["state"][f"melds{session.seat}"]:
            hand = [*view["state"][f"hand{session.seat}"], *(face for _, face in view["state"]["drawn"])]
            lowest = min(mjai_name(face) for face in hand)
            assert (chosen["move"], mjai_name(chosen["faces"][0])[:2]) == ("discard", lowest[:2])
            hints += 1

    play_to_the_end(game.session, np.random.default_rng(1), ask)
    assert hints > 20
    programs = [child for child in psutil.Process().children() if child not in others]
    assert len(programs) >= 3
    assert_record(game)
    assert psutil.wait_procs(programs, timeout=30)[1] == [], "they end with the game"


def mjai_name(face: int) -> str:
    """Return a tile as the mjai protocol writes it."""
    name = face_name(face)
    number, suit = name[0], name[1]
    if suit == "z":
        return "ESWNPFC"[int(number) - 1]
    return f"5{suit}r" if number == "0" else name


def test_a_program_that_fails_gives_no_hint_and_the_game_goes_on(tmp_path: Path) -> None:
    game = seated(bot("broken"), tmp_path)
    to_the_person(game.session)
    number = game.session.number
    with pytest.raises(ValueError, match=r"gives no hints in this game: .*the bot is broken"):
        game.hint(number, game.session.decision(number))
    play_to_the_end(game.session, np.random.default_rng(1))
    assert_record(game)
    game.close()


def test_a_net_that_adapts_gives_the_hint_that_it_would_follow(tmp_path: Path) -> None:
    address = f"adapt-8:{save_random(tmp_path / 'nets')}"
    game = seated(address, tmp_path / "games")
    session = game.session
    for _ in range(3):
        to_the_person(session)
        tables = session.decision(session.number)
        hint = game.hint(session.number, tables)
        assert hint["best"]
        assert set(hint["best"]) <= {move["action"] for move in session.view()["moves"]}
        session.move(session.number, session.view()["moves"][0]["action"])
    assert not game.agents.judges_records
    play_to_the_end(session, np.random.default_rng(1))
    assert_record(game)
    game.close()
