from __future__ import annotations

import numpy as np
import pytest

from suphx.experience.seat_observations import SeatObservations
from suphx.games.doudizhu.bots.scripted_play import play_scripted
from suphx.games.doudizhu.engine.rules import Rules
from suphx.games.doudizhu.engine.simulator import Simulator
from suphx.games.doudizhu.selfplay.game_play import ScriptedPlayer, play_decks, play_games
from suphx.kernel.record import I64


def test_decks_played_twice_are_the_games_of_the_scripted_agents() -> None:
    results = play_decks(40, Rules(), ScriptedPlayer("rule"), ScriptedPlayer("random"), first_seed=7)
    as_landlord = play_scripted(40, Rules(), ("rule", "random"), seed=7)
    as_peasants = play_scripted(40, Rules(), ("random", "rule"), seed=7)
    assert (results.landlord_wins == (as_landlord.winners == 0)).all()
    assert (results.peasant_wins == (as_peasants.winners != 0)).all()
    assert (results.landlord_points == np.where(results.landlord_wins, 1, -1) * np.exp2(as_landlord.bombs)).all()
    assert (results.peasant_points == np.where(results.peasant_wins, 1, -1) * np.exp2(as_peasants.bombs)).all()


class IllegalPlayer:
    def choose(self, simulator: Simulator, seen: SeatObservations) -> I64:
        seen.moves[:] = simulator.moves.num_moves - 1  # a pass, which who leads cannot play
        return seen.offsets[:-1]


def test_an_illegal_move_is_refused() -> None:
    with pytest.raises(ValueError, match="pass is not legal"):
        play_decks(1, Rules(), IllegalPlayer(), ScriptedPlayer("random"))


def test_no_decks_and_unknown_agents_are_refused() -> None:
    with pytest.raises(ValueError, match="num_decks is 0: play at least one deck"):
        play_decks(0, Rules(), ScriptedPlayer("rule"), ScriptedPlayer("random"))
    with pytest.raises(ValueError, match="'expert' is not a scripted agent: use one of random, rule"):
        ScriptedPlayer("expert")


@pytest.mark.parametrize(
    ("seating", "message"),
    [
        ([[0, 0, 1]], "seating names player 1: use 0 to 0"),
        ([[0, -1, 0]], "seating names player -1: use 0 to 0"),
        ([[0, 0]], r"seating has the shape \(1, 2\) for 1 tables: give 3 players for each"),
        ([[0, 0, 0]] * 2, r"seating has the shape \(2, 3\) for 1 tables"),
    ],
)
def test_a_seating_that_does_not_fit_is_refused(seating: list[list[int]], message: str) -> None:
    simulator = Simulator(1, Rules())
    simulator.reset([1])
    with pytest.raises(ValueError, match=message):
        play_games(simulator, [ScriptedPlayer("random")], np.array(seating))
