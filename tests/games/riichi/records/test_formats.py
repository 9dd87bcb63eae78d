"""What each format has of a game survives writing and reading, and the game then replays without a difference."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.records.game_log import ACTION_BITS, GameLog, KyokuLog, move
from suphx.games.riichi.records.kyoku_builder import FACE_OF_ID
from suphx.games.riichi.records.mjai import parse_mjai, write_mjai
from suphx.games.riichi.records.mjlog import parse_mjlog, write_mjlog
from suphx.games.riichi.records.quarantine import Quarantine, RecordError
from suphx.games.riichi.records.replay import Replayer
from suphx.games.riichi.records.tenhou6 import parse_tenhou6, write_tenhou6
from suphx.games.riichi.rules import Rules
from suphx.games.riichi.table import LEAVE, RESULT, RETURN
from suphx.games.riichi.tables import ScriptedAgent
from suphx.selfplay.rollouts.rollout import play_games
from tests.games.riichi.builders.games import assert_same_game, drawn_game, random_game, shuffled_wall

FACES = np.array(FACE_OF_ID)
RESULTS = RESULT.names or ()


class Format(NamedTuple):
    """What a format keeps beside tiles and moves."""

    write: Callable[[GameLog], str]
    parse: Callable[..., GameLog]
    head: tuple[str, ...]
    results: tuple[str, ...]


FORMATS = {
    "mjlog": Format(write_mjlog, parse_mjlog, ("names", "dans", "room", "rules", "final_scores"), RESULTS),
    "mjai": Format(
        write_mjai,
        parse_mjai,
        ("names", "rules", "final_scores"),
        ("result", "num_wins", "win_seat", "win_loser", "win_face", "win_deltas", "tenpai", "deltas"),
    ),
    "tenhou6": Format(
        write_tenhou6, parse_tenhou6, ("names", "dans", "ratings", "room", "rules", "final_scores"), RESULTS
    ),
}


def assert_kept(name: str, game: GameLog) -> GameLog:
    """Write and read a game; check that all that the format has is the same, and return what was read."""
    form = FORMATS[name]
    text = form.write(game)
    back = form.parse(text, game.id, is_fragment_allowed=True)
    assert [getattr(back, field) for field in form.head] == [getattr(game, field) for field in form.head]
    for ours, theirs in zip(game.kyokus, back.kyokus, strict=True):
        for field in ("kyoku", "honba", "kyotaku", "scores"):
            assert getattr(theirs, field) == getattr(ours, field), field
        is_told = np.full(len(ours.moves), True) if name == "mjlog" else (ours.moves & 127) < LEAVE
        assert theirs.moves.tolist() == ours.moves[is_told].tolist()
        assert sorted(FACES[theirs.deal]) == sorted(FACES[ours.wall[:52]])
        assert not ours.draws.size or np.array_equal(FACES[theirs.draws], FACES[ours.draws])
        assert sorted(theirs.wall.tolist()) == list(range(136))
        for field in form.results:
            # tenhou6 has no fu of limit hands
            known = np.where(theirs.result[field], ours.result[field], 0) if field == "win_fu" else ours.result[field]
            assert np.array_equal(theirs.result[field], known), field
    if name != "mjlog" or not any(kyoku.is_wall_from_seed for kyoku in game.kyokus):
        assert_same_game(form.parse(form.write(back), game.id, is_fragment_allowed=True), back)
    return back


names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ufffd"), max_size=20)
absences = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 60), st.integers(0, 20)), max_size=2)


@st.composite
def games(draw: st.DrawFn, name: str) -> GameLog:
    """Draw a game of the scripted agents under some rules, with names, grades, and seats that come and go."""
    rules = Rules(num_winds=draw(st.integers(1, 2)), open_tanyao=name == "mjai" or draw(st.booleans()))
    seating = np.array([draw(st.lists(st.integers(0, 1), min_size=4, max_size=4))])
    agents = [ScriptedAgent("random"), ScriptedAgent("ukeire")]
    game: GameLog
    (game,) = play_games(agents, seating, [draw(st.integers(0, 2**62 - 1))], rules)
    first, second, third, fourth = draw(st.lists(names, min_size=4, max_size=4))
    return dataclasses.replace(
        game,
        names=(first, second, third, fourth),
        dans=tuple(draw(st.one_of(st.just([]), st.lists(st.integers(0, 20), min_size=4, max_size=4)))),
        room=draw(st.sampled_from(["", "general", "advanced", "expert", "phoenix"])),
        kyokus=[with_absences(kyoku, draw(absences)) for kyoku in game.kyokus],
    )


def with_absences(kyoku: KyokuLog, absent: list[tuple[int, int, int]]) -> KyokuLog:
    """Let seats leave before a move and come back before a later one, unless the deal is over by then."""
    moves = kyoku.moves.tolist()
    for seat, start, length in absent:
        has_marks = any(number >> ACTION_BITS == seat and number % 128 >= LEAVE for number in moves)
        if start + length < len(moves) and not has_marks:
            moves.insert(start + length, move(seat, RETURN))
            moves.insert(start, move(seat, LEAVE))
    return dataclasses.replace(kyoku, moves=np.array(moves, np.uint16))


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=12)
@given(st.data())
def test_a_game_of_scripted_agents_survives_and_replays(name: str, data: st.DataObject) -> None:
    assert Replayer().replay(assert_kept(name, data.draw(games(name)))) == []


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("seed", range(6))
def test_a_game_full_of_riichi_calls_and_wins_survives_and_replays(name: str, seed: int) -> None:
    assert Replayer().replay(assert_kept(name, random_game(seed))) == []


@pytest.mark.records
@pytest.mark.parametrize("name", FORMATS)
def test_real_games_survive(name: str, real_games: list[GameLog]) -> None:
    for game in real_games:
        assert_kept(name, game)


@pytest.mark.records
@pytest.mark.parametrize("name", ["mjai", "tenhou6"])
def test_real_records_of_other_programs_replay_without_a_difference(name: str, records: Path) -> None:
    quarantine = Quarantine()
    logs = list(iter_records([records / "formats" / name], quarantine=quarantine))
    assert logs
    assert not quarantine.count
    for log in logs:
        assert Replayer().replay(log) == []


@pytest.mark.parametrize("name", FORMATS)
def test_a_game_whose_rules_the_format_cannot_say_is_refused(name: str) -> None:
    form = FORMATS[name]
    game = dataclasses.replace(drawn_game(shuffled_wall(1)), rules=Rules(red_fives=""))
    with pytest.raises(ValueError, match="was played with red_fives = '', which its record cannot say"):
        form.write(game)
    rules = Rules(num_winds=1, tenpai_ends_game=False)
    (game,) = play_games([ScriptedAgent("ukeire")], np.zeros((1, 4), np.int64), [1], rules)
    with pytest.raises(ValueError, match="was played with tenpai_ends_game = False, which its record cannot say"):
        form.write(game)
    assert form.write(dataclasses.replace(game, id="2009010100gm-0009-0000-00000000"))


@pytest.mark.parametrize("name", FORMATS)
def test_truncation_anywhere_is_refused(name: str) -> None:
    text = FORMATS[name].write(random_game(3))
    for end in range(0, len(text) - 2, 701):
        with pytest.raises(RecordError):
            FORMATS[name].parse(text[:end], "x")


@pytest.mark.parametrize("name", ["mjlog", "tenhou6"])
def test_a_game_without_han_fu_and_yaku_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no han, fu and yaku"):
        FORMATS[name].write(parse_mjai(write_mjai(random_game(1)), "x"))
