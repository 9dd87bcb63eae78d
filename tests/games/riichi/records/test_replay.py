from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from suphx.games.riichi import table as codes
from suphx.games.riichi.records.game_log import ACTION_BITS, GameLog, KyokuLog, move
from suphx.games.riichi.records.quarantine import CHIPS, ForeignRecord, RecordError
from suphx.games.riichi.records.replay import Difference, GameRecorder, Replayer
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.tile import ALL_RED_FIVES
from tests.games.riichi.builders.games import random_game
from tests.games.riichi.builders.hands import choose
from tests.games.riichi.builders.table_builder import make_wall

ACTION_MASK = (1 << ACTION_BITS) - 1


def first_kyoku(seed: int, is_wanted: Callable[[KyokuLog], bool]) -> tuple[GameLog, int]:
    """Return the first deal that is wanted, over the games from ``seed`` on."""
    for number in range(seed, seed + 20):
        game = random_game(number)
        for index, log in enumerate(game.kyokus):
            if is_wanted(log):
                return game, index
    raise AssertionError("no such deal in 20 games")


def with_kyoku(game: GameLog, index: int, log: KyokuLog) -> GameLog:
    kyokus = [*game.kyokus]
    kyokus[index] = log
    return dataclasses.replace(game, kyokus=kyokus)


def with_moves(game: GameLog, index: int, moves: list[int]) -> GameLog:
    log = dataclasses.replace(game.kyokus[index], moves=np.array(moves, np.uint16))
    return with_kyoku(game, index, log)


def actions_of(log: KyokuLog) -> list[int]:
    actions: list[int] = (log.moves & ACTION_MASK).tolist()
    return actions


def only_difference(game: GameLog) -> Difference:
    (difference,) = Replayer().replay(game)
    return difference


# --- no difference


def test_a_replayer_keeps_nothing_of_the_game_before() -> None:
    replayer = Replayer()
    game = random_game(0)
    assert replayer.replay(with_moves(game, 0, game.kyokus[0].moves.tolist()[:5])) != []
    assert replayer.replay(game) == []


def test_marks_of_absent_seats_change_nothing() -> None:
    game = random_game(1)
    moves = game.kyokus[0].moves.tolist()
    marked = [move(2, codes.LEAVE), *moves[:6], move(2, codes.RETURN), *moves[6:], move(1, codes.LEAVE)]
    assert Replayer().replay(with_moves(game, 0, marked)) == []


def test_a_triple_ron_needs_no_moves() -> None:
    hands = ["", "123456789m1123p", "123456789s2399p", "555z345678s56p77z"]
    wall = make_wall(hands, "4p", "", "", "", 0, 69, ALL_RED_FIVES).astype(np.uint8)
    game = random_game(0)
    result = game.kyokus[0].result.copy()
    for name in result.dtype.names or ():
        result[name] = 0
    result["win_liable"], result["result"] = -1, codes.TRIPLE_RON_DRAW
    log = dataclasses.replace(
        game.kyokus[0], wall=wall, moves=np.array([move(0, codes.TSUMOGIRI)], np.uint16), result=result
    )
    assert Replayer().replay(dataclasses.replace(game, kyokus=[log], final_scores=None)) == []


# --- differences


MOVES: dict[str, tuple[Callable[[list[int]], object], str]] = {
    "an illegal move": (
        lambda moves: moves.__setitem__(0, move(0, codes.RON)),
        "the record has: seat 0 ron; by the rules seat 0 chooses one of: discard",
    ),
    "a move of another seat": (lambda moves: moves.__setitem__(0, move(3, codes.TSUMOGIRI)), "the record has: seat 3"),
    "an early stop": (lambda moves: moves.__delitem__(slice(1, None)), "the record has: the end of the deal"),
    "a move too many": (
        lambda moves: moves.append(move(2, codes.TSUMOGIRI)),
        "the deal is over by the rules, but the record continues with: seat 2 tsumogiri",
    ),
    "an impossible claim": (
        lambda moves: moves.insert(1, move(2, codes.CHI)),
        "chi low",
    ),  # a run is for the next seat only
}


@pytest.mark.parametrize("name", MOVES)
def test_moves_against_the_rules_are_reported_with_game_and_deal(name: str) -> None:
    change, reason = MOVES[name]
    game = random_game(0)
    moves = game.kyokus[0].moves.tolist()
    change(moves)
    difference = only_difference(with_moves(game, 0, moves))
    assert (difference.id, difference.kyoku) == ("game-0", 0)
    assert reason in difference.what


@pytest.mark.parametrize(
    ("name", "tiles", "what"),
    [("draws", slice(52, 60), "draw 2 differs from the wall's tile"), ("deal", slice(52), "the deal differs from the")],
)
def test_recorded_tiles_are_compared_with_the_wall(name: str, tiles: slice, what: str) -> None:
    game = random_game(0)
    log = game.kyokus[0]
    recorded = log.wall[tiles].copy()
    recorded[[2, 3]] = recorded[[3, 2]]
    changed: dict[str, Any] = {name: recorded}
    assert only_difference(with_kyoku(game, 0, dataclasses.replace(log, **changed))).what.startswith(what)


def test_a_missing_claim_is_reported() -> None:
    game, index = first_kyoku(0, lambda log: any(codes.PON <= action < codes.PASS for action in actions_of(log)))
    moves = game.kyokus[index].moves.tolist()
    claim = next(i for i, action in enumerate(actions_of(game.kyokus[index])) if codes.PON <= action < codes.PASS)
    del moves[claim]
    difference = only_difference(with_moves(game, index, moves))
    assert difference.kyoku == index
    assert difference.step >= claim


@pytest.mark.parametrize("name", ["win_han", "win_fu", "win_yaku", "win_points", "win_ura", "deltas", "win_liable"])
def test_every_part_of_a_win_is_compared(name: str) -> None:
    game, index = first_kyoku(0, lambda log: log.result["result"] == codes.WIN_RESULT)
    result = game.kyokus[index].result.copy()
    result[name].flat[0] += 1
    log = dataclasses.replace(game.kyokus[index], result=result)
    what = only_difference(with_kyoku(game, index, log)).what
    assert what.startswith(f"{name}: ")
    assert "in the record" in what
    assert "by the rules" in what


def test_an_incomplete_result_compares_winners_and_payments_only() -> None:
    game, index = first_kyoku(0, lambda log: log.result["result"] == codes.WIN_RESULT)
    result = game.kyokus[index].result.copy()
    result["win_han"] = result["win_fu"] = result["win_yaku"] = 0
    log = dataclasses.replace(game.kyokus[index], result=result, is_result_complete=False)
    assert Replayer().replay(with_kyoku(game, index, log)) == []
    result["deltas"][0] += 100
    assert only_difference(with_kyoku(game, index, log)).what.startswith("deltas: ")


def test_the_start_of_the_next_deal_is_compared() -> None:
    game = random_game(0)
    log = dataclasses.replace(game.kyokus[1], honba=game.kyokus[1].honba + 1)
    differences = Replayer().replay(with_kyoku(game, 1, log))
    assert differences[0].kyoku == 0
    assert differences[0].what.startswith("next (kyoku, honba, kyotaku, scores): ")


def test_a_game_that_ends_too_soon_or_too_late_is_reported() -> None:
    game = random_game(0)
    last = len(game.kyokus) - 1
    short = dataclasses.replace(game, kyokus=game.kyokus[:last])
    assert only_difference(short).what == "the record ends the game here, but by the rules it continues"
    assert Replayer().replay(dataclasses.replace(short, final_scores=None)) == []
    longer = dataclasses.replace(game, kyokus=[*game.kyokus, game.kyokus[last]])
    assert Replayer().replay(longer)[0].what == "the game ends here by the rules, but the record continues"


def test_final_scores_are_compared() -> None:
    game = random_game(0)
    assert game.final_scores is not None
    first, second, third, fourth = game.final_scores
    wrong = dataclasses.replace(game, final_scores=(first + 100, second, third, fourth))
    difference = only_difference(wrong)
    assert difference.kyoku == len(game.kyokus) - 1
    assert difference.what.startswith("final scores: ")


def test_an_error_says_reason_and_place_and_survives_pickling() -> None:
    for kind in (RecordError, ForeignRecord):
        error = pickle.loads(pickle.dumps(kind("a tile is missing", "line 3", CHIPS)))
        assert isinstance(error, ValueError)
        assert type(error) is kind
        assert (error.reason, error.position, error.kind) == ("a tile is missing", "line 3", CHIPS)
        assert str(error) == "a tile is missing (at line 3)"


NAMES = ("a", "b", "c", "d")


def test_games_recorded_side_by_side_replay_without_difference() -> None:
    simulator = Simulator(20, tenhou(), stops_at_kyoku_end=True)
    recorder = GameRecorder(simulator)
    simulator.reset(range(20))
    recorder.begin_kyokus(np.arange(20))
    while (waiting := simulator.waiting()).size:
        recorder.advance(waiting, choose(simulator.tables, waiting).astype(np.int16))
        ended = simulator.at_kyoku_end()
        recorder.take_kyokus(ended)
        simulator.next_kyoku(ended)
        recorder.begin_kyokus(ended)
    replayer = Replayer()
    for i in range(20):
        log = recorder.finish(i, f"game-{i}", NAMES)
        assert replayer.replay(log) == []
        assert len(log.kyokus) == simulator.tables["num_kyoku"][i]
        assert log.final_scores == tuple(simulator.scores()[i].tolist())
        assert recorder.finish(i, "again", NAMES).kyokus == []


def test_a_game_that_is_reset_in_the_middle_leaves_nothing_in_the_next_one() -> None:
    simulator = Simulator(2, tenhou(), stops_at_kyoku_end=True)
    recorder = GameRecorder(simulator)
    for seed, num_kyokus in ((1, 2), (3, 99)):
        simulator.reset([seed, seed + 1])
        recorder.begin_kyokus(np.arange(2))
        while (waiting := simulator.waiting()).size and len(recorder.finished_kyokus(0)) < num_kyokus:
            recorder.advance(waiting, choose(simulator.tables, waiting).astype(np.int16))
            ended = simulator.at_kyoku_end()
            recorder.take_kyokus(ended)
            simulator.next_kyoku(ended)
            recorder.begin_kyokus(ended)
    for index in range(2):
        log = recorder.finish(index, "game", NAMES)
        assert len(log.kyokus) == simulator.tables["num_kyoku"][index]
        assert Replayer().replay(log) == []


def test_a_simulator_that_goes_on_by_itself_cannot_be_recorded() -> None:
    with pytest.raises(ValueError, match="make it with stops_at_kyoku_end=True"):
        GameRecorder(Simulator(1, tenhou()))


def test_a_running_game_cannot_be_finished() -> None:
    simulator = Simulator(1, tenhou(), stops_at_kyoku_end=True)
    simulator.reset([0])
    assert simulator.tables["phase"][0] != codes.GAME_END
    with pytest.raises(ValueError, match="a game is finished at GAME_END"):
        GameRecorder(simulator).finish(0, "game", NAMES)
