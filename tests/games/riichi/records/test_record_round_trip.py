"""Whatever a game is called and however it was played, it comes back from both record formats as it was."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suphx.games.riichi.records.log.gamelog import ACTION_BITS, GameLog, KyokuLog, move
from suphx.games.riichi.records.log.replay import Replayer
from suphx.games.riichi.records.mjai.mjai import parse_mjai
from suphx.games.riichi.records.mjai.mjai_writer import write_mjai
from suphx.games.riichi.records.mjlog.mjlog import parse_mjlog
from suphx.games.riichi.records.mjlog.mjlog_writer import write_mjlog
from suphx.games.riichi.table.action import LEAVE, RETURN
from suphx.games.riichi.table.rules import Rules
from suphx.selfplay.agents.agent import ScriptedAgent
from suphx.selfplay.rollouts.rollout import play_games
from tests.games.riichi.builders.games import assert_same_game

WITHOUT_DETAILS = ("result", "num_wins", "win_seat", "win_loser", "win_face", "win_deltas", "tenpai", "deltas")

ANY_SWITCH = st.booleans()
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
absences = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 60), st.integers(0, 20)), max_size=2)


@st.composite
def games(draw: st.DrawFn, open_tanyao: st.SearchStrategy[bool] = ANY_SWITCH) -> GameLog:
    """Draw a game of the scripted agents under some rules, with names, grades, and seats that come and go."""
    rules = Rules(num_winds=draw(st.integers(1, 2)), open_tanyao=draw(open_tanyao))
    seating = np.array([draw(st.lists(st.integers(0, 1), min_size=4, max_size=4))])
    agents = [ScriptedAgent("random"), ScriptedAgent("ukeire")]
    (game,) = play_games(agents, seating, [draw(st.integers(0, 2**62 - 1))], rules)
    first, second, third, fourth = draw(st.lists(names, min_size=4, max_size=4))
    return dataclasses.replace(
        game,
        names=(first, second, third, fourth),
        dans=tuple(draw(st.one_of(st.just([]), st.lists(st.integers(0, 20), min_size=4, max_size=4)))),
        room=draw(st.sampled_from(["general", "advanced", "expert", "phoenix"])),
        kyokus=[with_absences(kyoku, draw(absences)) for kyoku in game.kyokus],
    )


def with_absences(kyoku: KyokuLog, absent: list[tuple[int, int, int]]) -> KyokuLog:
    """Let seats leave before a move and come back before a later one, unless the deal is over by then."""
    moves = kyoku.moves.tolist()
    for seat, start, length in absent:
        if start + length < len(moves) and not any(
            number >> ACTION_BITS == seat and number % 128 >= LEAVE for number in moves
        ):
            moves.insert(start + length, move(seat, RETURN))
            moves.insert(start, move(seat, LEAVE))
    return dataclasses.replace(kyoku, moves=np.array(moves, np.uint16))


def decisions(kyoku: KyokuLog) -> list[int]:
    return [number for number in kyoku.moves.tolist() if number % 2**ACTION_BITS < LEAVE]


@settings(max_examples=25, deadline=None)
@given(games())
def test_a_game_survives_mjlog(game: GameLog) -> None:
    read = parse_mjlog(write_mjlog(game), game.id)
    heads = [(log.names, log.dans, log.room, log.rules, log.final_scores) for log in (read, game)]
    assert heads[0] == heads[1]
    for ours, theirs in zip(game.kyokus, read.kyokus, strict=True):
        assert theirs.moves.tolist() == ours.moves.tolist()
        assert theirs.result == ours.result
    assert Replayer().replay(read) == []
    assert_same_game(parse_mjlog(write_mjlog(read), game.id), read)


@settings(max_examples=25, deadline=None)
@given(games(st.just(True)))
def test_a_game_survives_mjai_but_for_what_that_does_not_tell(game: GameLog) -> None:
    read = parse_mjai(write_mjai(game), game.id)
    assert (read.names, read.rules.num_winds, read.final_scores) == (
        game.names,
        game.rules.num_winds,
        game.final_scores,
    )
    for ours, theirs in zip(game.kyokus, read.kyokus, strict=True):
        assert decisions(theirs) == decisions(ours)
        for name in WITHOUT_DETAILS:
            assert np.array_equal(theirs.result[name], ours.result[name]), name
    assert_same_game(parse_mjai(write_mjai(read), game.id), read)


def test_a_game_without_open_tanyao_is_not_written_to_mjai() -> None:
    rules = Rules(num_winds=1, open_tanyao=False)
    (game,) = play_games([ScriptedAgent("ukeire")], np.zeros((1, 4), np.int64), [1], rules)
    with pytest.raises(ValueError, match="was played with open_tanyao = False, which its record cannot say"):
        write_mjai(game)


def test_a_game_that_goes_on_after_tenpai_is_written_only_under_the_id_of_such_a_game() -> None:
    rules = Rules(num_winds=1, tenpai_ends_game=False)
    (game,) = play_games([ScriptedAgent("ukeire")], np.zeros((1, 4), np.int64), [1], rules)
    for write in (write_mjai, write_mjlog):
        with pytest.raises(ValueError, match="was played with tenpai_ends_game = False, which its record cannot say"):
            write(game)
        assert write(dataclasses.replace(game, id="2009010100gm-0009-0000-00000000"))
