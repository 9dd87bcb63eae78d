from __future__ import annotations

import numpy as np
import pytest

from suphx.experience.observation import Observations
from suphx.games.doudizhu.bots import play_scripted
from suphx.games.doudizhu.engine import Simulator
from suphx.games.doudizhu.learning import ENCODER, LEARNING
from suphx.games.doudizhu.selfplay import DouDizhuTables, ScriptedPlayer
from suphx.games.doudizhu.table import GAME_END, Rules
from suphx.games.registry import candidate_game
from suphx.kernel.record import I32, I64
from suphx.selfplay.rollouts.rollout import play_deals, play_games
from tests.games.doudizhu.invariants import check_invariants

GAME = candidate_game("doudizhu")


def test_decks_played_twice_are_the_games_of_the_scripted_agents() -> None:
    played = play_deals(GAME, Rules(), ScriptedPlayer("rule"), ScriptedPlayer("random"), range(7, 47))
    points = GAME.scoring.side_points(np.array([game.points for game in played]))
    as_landlord = play_scripted(40, Rules(), ("rule", "random"), seed=7)
    as_peasants = play_scripted(40, Rules(), ("random", "rule"), seed=7)
    for side, has_won, scripted in (
        ("landlord", as_landlord.winners == 0, as_landlord),
        ("peasant", as_peasants.winners != 0, as_peasants),
    ):
        assert (points[side] == np.where(has_won, 1, -1) * np.exp2(scripted.bombs)).all()


class IllegalPlayer:
    name = "illegal"

    def act(self, tables: DouDizhuTables, indices: I64) -> I64:
        return np.full(len(indices), tables.num_moves - 1)  # a pass, which who leads cannot play


def test_an_illegal_move_is_refused() -> None:
    with pytest.raises(ValueError, match="pass is not legal"):
        play_deals(GAME, Rules(), IllegalPlayer(), ScriptedPlayer("random"), [0])


@pytest.mark.parametrize(
    ("seating", "message"),
    [
        ([[0, 0, 1]], "seating names agent 1, but there are only 1"),
        ([[0, -1, 0]], "seating names agent -1, but there are only 1"),
        ([[0, 0]], r"seating has the shape \(1, 2\) for 1 seeds: give 3 agents for each"),
        ([[0, 0, 0]] * 2, r"seating has the shape \(2, 3\) for 1 seeds"),
    ],
)
def test_a_seating_that_does_not_fit_is_refused(seating: list[list[int]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        list(play_games([ScriptedPlayer("random")], np.array(seating), [1], Rules(), game="doudizhu"))


NUM_TABLES = 30


def middle(tables: DouDizhuTables, indices: I64) -> I32:
    """Return a move in the middle of each list."""
    offsets, legal = tables.legal(indices)
    moves: I32 = legal[(offsets[:-1] + offsets[1:]) // 2]
    return moves


def test_games_that_end_are_whole_and_others_begin_in_their_places() -> None:
    tables, next_seed, ended = DouDizhuTables(NUM_TABLES, Rules()), 100, []
    tables.begin(np.arange(NUM_TABLES), range(next_seed, next_seed := next_seed + NUM_TABLES))
    for _ in range(300):
        waiting = tables.waiting()
        tables.advance(waiting, middle(tables, waiting))
        over = tables.take_ended()
        ended += list(tables.tables[over])
        tables.begin(over, range(next_seed, next_seed := next_seed + len(over)))
    seeds = [int(table["seed"]) for table in ended]
    assert len(set(seeds)) == len(seeds) > NUM_TABLES
    replay = Simulator(1, Rules())
    for table in ended[:20]:
        assert table["phase"] == GAME_END
        check_invariants(table, tables.moves)
        replay.reset([int(table["seed"])])
        for move in table["moves"][: table["num_moves"]]:
            replay.advance(np.zeros(1, np.int64), np.array([move], np.int32))
        assert replay.tables[0] == table


def test_nets_decide_for_the_seats_that_have_a_choice() -> None:
    simulator = Simulator(6, Rules())
    simulator.reset(range(5, 11))
    asked = 0

    def forward(observations: Observations, lines: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        nonlocal asked
        asked += len(lines)
        assert (simulator.tables["actor"][lines] == observations.decision).all()
        assert observations.candidates is not None
        counts = np.diff(observations.candidates.offsets)
        assert (counts > 1).all()
        return (observations.uniforms * counts).astype(np.int16), np.zeros(len(lines), np.float32)

    while (waiting := simulator.waiting()).size:
        simulator.advance(waiting, LEARNING.decide(simulator, waiting, ENCODER, forward))
    assert asked > 60
    assert (simulator.tables["winner"] >= 0).all()


def test_places_outside_of_a_list_and_unknown_encoders_are_refused() -> None:
    simulator = Simulator(1, Rules())
    simulator.reset([5])
    ((_, seen),) = LEARNING.observe(simulator, np.zeros(1, np.int64), ENCODER)
    with pytest.raises(ValueError, match=r"9999 is not one of the \d+ candidates of row 0"):
        seen.chosen_moves(np.array([9999]))
    with pytest.raises(ValueError, match="'mini' is not an encoder: use douzero"):
        LEARNING.layout("mini", 0)
