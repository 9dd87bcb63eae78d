from __future__ import annotations

import pickle

import numpy as np
import pytest

from suphx.games.riichi.records import quarantine
from suphx.games.riichi.records.quarantine import CHIPS, FOREIGN_KINDS, RECORD_REMEDIES, ForeignRecord, RecordError
from suphx.games.riichi.records.replay import GameRecorder, Replayer
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import GAME_END
from tests.games.riichi.builders.hands import choose


def test_an_error_says_reason_and_place_and_survives_pickling() -> None:
    for kind in (RecordError, ForeignRecord):
        error = pickle.loads(pickle.dumps(kind("a tile is missing", "line 3", CHIPS)))
        assert isinstance(error, ValueError)
        assert type(error) is kind
        assert (error.reason, error.position, error.kind) == ("a tile is missing", "line 3", CHIPS)
        assert str(error) == "a tile is missing (at line 3)"


def test_every_kind_of_reason_has_a_remedy() -> None:
    kinds = {value for name, value in vars(quarantine).items() if name.isupper() and isinstance(value, str)}
    assert kinds == set(RECORD_REMEDIES)
    assert kinds >= FOREIGN_KINDS
    assert all(RECORD_REMEDIES.values())


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
    assert simulator.tables["phase"][0] != GAME_END
    with pytest.raises(ValueError, match="a game is finished at GAME_END"):
        GameRecorder(simulator).finish(0, "game", NAMES)
