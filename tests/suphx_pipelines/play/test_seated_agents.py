"""Agents at a table: nets that adapt and outside programs play whole games, and give hints in the person's place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import pytest

from suphx.games.riichi.archive.archive import verify_records
from suphx.games.riichi.play import GameSession
from suphx.games.riichi.tile import face_name
from suphx_pipelines.play.riichi_seats import AgentLoader, PlayConfig, SeatedGame
from suphx_platform.agents.agent_loading import load_any_agent
from tests.selfplay.small_policy_set import save_random
from tests.suphx_platform.agents.mjai.bot_program import bot


def to_the_person(session: GameSession) -> None:
    """Let the agents play until the person has to decide, or a deal or the game has ended."""
    while session.is_agents_turn:
        session.play_agent()


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
    return SeatedGame.new(config, AgentLoader(agent, load_any_agent), 0)


def assert_record(game: SeatedGame) -> None:
    report = verify_records([game.finish()], workers=1)
    assert (report.games, report.differences) == (1, 0)


def test_programs_end_with_the_game(tmp_path: Path) -> None:
    others = psutil.Process().children()
    game = seated(bot("lowest"), tmp_path)
    play_to_the_end(game.session, np.random.default_rng(0))
    programs = [child for child in psutil.Process().children() if child not in others]
    assert len(programs) >= 3
    game.finish()
    assert psutil.wait_procs(programs, timeout=30)[1] == []


def test_a_program_plays_a_whole_game_and_gives_its_own_answer_as_hint(tmp_path: Path) -> None:
    game = seated(bot("lowest"), tmp_path)
    hints = 0

    def ask(session: GameSession) -> None:
        """Compare the hint with what this program does: it discards the first tile by name."""
        nonlocal hints
        view = session.view()
        hint = game.agents.hint(session.number, session.decision(session.number))
        assert hint == game.agents.hint(session.number, session.decision(session.number))
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
    assert_record(game)
    game.close()


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
        game.agents.hint(number, game.session.decision(number))
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
        hint = game.agents.hint(session.number, tables)
        assert hint["best"]
        assert set(hint["best"]) <= {move["action"] for move in session.view()["moves"]}
        session.move(session.number, session.view()["moves"][0]["action"])
    assert not game.agents.judges_records
    game.close()


def test_nets_that_adapt_play_a_whole_game(tmp_path: Path) -> None:
    game = seated(f"adapt-8:{save_random(tmp_path / 'nets')}", tmp_path / "games")
    play_to_the_end(game.session, np.random.default_rng(1))
    assert_record(game)
    game.close()
