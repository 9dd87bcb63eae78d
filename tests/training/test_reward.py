from __future__ import annotations

from dataclasses import replace

import numpy as np

from suphx.games.riichi.features.game_progress import GameProgress, encode_game_progress
from suphx.games.riichi.table import GAME_END
from suphx.games.riichi.tables import ScriptedAgent
from suphx.kernel.record import Records
from suphx.models.reward_predictor import weights_of
from suphx.selfplay.rollouts.deal_play import draw_starts, play_deals
from suphx.training.reward import PredictedChange, Prediction, points_won
from tests.models import gru_twin
from tests.models.random_nets import EXPERT_8_DAN, small_predictor
from tests.selfplay.agents.small_agent import small_agent

PREDICTOR = small_predictor()
PREDICTION = Prediction(weights=weights_of(PREDICTOR), points=EXPERT_8_DAN, exchange_rate=200.0, last_kyoku="paid")


def played() -> tuple[Records, Records]:
    before = draw_starts(ScriptedAgent("ukeire"), 40, seed=1)
    after = before.copy()
    play_deals(after, np.zeros(40, np.int64), small_agent(), keeps=False)
    return before, after


BEFORE, AFTER = played()


def test_points_won_are_differences_of_scores_and_sticks_stay_on_the_table() -> None:
    won = points_won(BEFORE, AFTER)
    np.testing.assert_array_equal(won.sum(axis=1), -1000 * (AFTER["kyotaku"] - BEFORE["kyotaku"]))


def test_a_deal_that_ends_the_game_is_paid_by_place() -> None:
    over = np.flatnonzero(AFTER["phase"] == GAME_END)
    assert 0 < over.size < len(AFTER)
    changes = PredictedChange(PREDICTION)(BEFORE, AFTER)
    first, second, third, fourth = EXPERT_8_DAN
    dearer = replace(PREDICTION, points=(first + 1, second + 1, third + 1, fourth + 1))
    difference = PredictedChange(dearer)(BEFORE, AFTER) - changes
    expected = np.zeros((len(AFTER), 4))
    expected[over] = 200.0
    np.testing.assert_allclose(difference, expected, atol=0.05)


def test_another_deal_changes_the_prediction_from_that_of_its_start() -> None:
    number = int(np.flatnonzero(AFTER["phase"] != GAME_END)[0])
    lines = [
        encode_game_progress(
            GameProgress(
                round_scores=scores,
                scores=table["scores"],
                kyoku=table["kyoku"].astype(np.int32),
                honba=table["honba"].astype(np.int32),
                kyotaku=table["kyotaku"].astype(np.int32),
                is_over=np.zeros(1, np.bool_),
            )
        )[0]
        for table, scores in (
            (BEFORE[[number]], np.zeros((1, 4), np.int32)),
            (AFTER[[number]], (AFTER["scores"] - BEFORE["scores"])[[number]]),
        )
    ]
    found = PredictedChange(PREDICTION)(BEFORE, AFTER)[number]
    state = {name: tensor.numpy() for name, tensor in PREDICTOR.state_dict().items()}
    for seat in range(4):
        own = np.stack([line[seat] for line in lines]).astype(np.float64)
        start, end = gru_twin.predictions(state, own, PREDICTOR.mean, PREDICTOR.spread)
        np.testing.assert_allclose(found[seat], 200.0 * (end - start), rtol=1e-3, atol=0.1)
