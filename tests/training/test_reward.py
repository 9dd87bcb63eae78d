from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from suphx.games.learning import LearningConfig
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.features.game_progress import GameProgress, encode_game_progress
from suphx.games.riichi.names import DISCARD_HEAD
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.selfplay.table_group import KyokuEnds, TableGroup
from suphx.games.riichi.table import GAME_END
from suphx.games.riichi.tables import ScriptedAgent
from suphx.kernel.record import Records
from suphx.models.reward_predictor import weights_of
from suphx.selfplay.rollouts.deal_play import draw_starts, play_deals
from suphx.training.reward import GlobalReward, PredictedChange, Prediction, points_won
from tests.models import gru_twin
from tests.models.random_nets import EXPERT_8_DAN, PREDICTION, PREDICTOR, small_predictor
from tests.selfplay.agents.small_agent import small_agent
from tests.selfplay.row_nets import policy_outputs

PAYING_PREDICTOR = small_predictor()
PAYING = Prediction(weights=weights_of(PAYING_PREDICTOR), points=EXPERT_8_DAN, exchange_rate=200.0, last_kyoku="paid")


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
    changes = PredictedChange(PAYING)(BEFORE, AFTER)
    first, second, third, fourth = EXPERT_8_DAN
    dearer = replace(PAYING, points=(first + 1, second + 1, third + 1, fourth + 1))
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
    found = PredictedChange(PAYING)(BEFORE, AFTER)[number]
    state = {name: tensor.numpy() for name, tensor in PAYING_PREDICTOR.state_dict().items()}
    for seat in range(4):
        own = np.stack([line[seat] for line in lines]).astype(np.float64)
        start, end = gru_twin.predictions(state, own, PAYING_PREDICTOR.mean, PAYING_PREDICTOR.spread)
        np.testing.assert_allclose(found[seat], 200.0 * (end - start), rtol=1e-3, atol=0.1)


NUM_TABLES = 6


def ended_deals(steps: int = 2800) -> list[KyokuEnds]:
    """Return how deals ended in games of nets that know nothing, as a simulator sees it."""
    group = TableGroup(
        LearningConfig(num_tables=NUM_TABLES, learned=(DISCARD_HEAD,)), find_encoder("mini"), tenhou(), first_seed=7
    )
    return [group.step([policy_outputs(observations) for observations in group.observe()]).ends for _ in range(steps)]


DEALS = ended_deals()


def joined(parts: list[KyokuEnds]) -> KyokuEnds:
    return KyokuEnds(**{f.name: np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(KyokuEnds)})


def rewards_by_game(reward: GlobalReward, deals: list[KyokuEnds]) -> dict[int, list[np.ndarray]]:
    """Return the rewards of each game that ended, deal by deal."""
    found: dict[int, list[np.ndarray]] = {}
    over = set()
    for ends in deals:
        for n, rewards in enumerate(reward(ends)):
            found.setdefault(int(ends.games[n]), []).append(rewards)
            if ends.placements[n].any():
                over.add(int(ends.games[n]))
    assert len(over) >= 10
    return {game: found[game] for game in over}


def twin_predictions(game: int) -> np.ndarray:
    """Return [K + 1, 4]: the whole history of a game read again by the slow predictor, for each seat."""
    ends = joined(DEALS)
    own = np.flatnonzero(ends.games == game)
    start = np.zeros(1, np.int32)
    columns = {
        "round_scores": np.concatenate([np.zeros((1, 4)), (ends.next_scores - ends.scores_before)[own]]),
        "scores": np.concatenate([np.full((1, 4), 25_000), ends.next_scores[own]]),
        "kyoku": np.concatenate([start, ends.next_kyoku[own]]),
        "honba": np.concatenate([start, ends.next_honba[own]]),
        "kyotaku": np.concatenate([start, ends.next_kyotaku[own]]),
        "is_over": np.concatenate([[False], ends.placements[own].any(axis=1)]),
    }
    lines = encode_game_progress(GameProgress(**columns)).astype(np.float64)
    state = {name: tensor.numpy() for name, tensor in PREDICTOR.state_dict().items()}
    seats = [gru_twin.predictions(state, lines[:, seat], PREDICTOR.mean, PREDICTOR.spread) for seat in range(4)]
    return np.stack(seats, axis=1)


def test_the_reward_of_a_kyoku_is_the_difference_of_two_predictions() -> None:
    found = rewards_by_game(GlobalReward(PREDICTION, NUM_TABLES), DEALS)
    for game, rewards in found.items():
        expected = 200 * np.diff(twin_predictions(game), axis=0)
        np.testing.assert_allclose(np.stack(rewards), expected, atol=0.2)


def test_rewards_of_a_game_add_up_to_what_it_was_paid_beyond_what_was_expected() -> None:
    reward = GlobalReward(replace(PREDICTION, last_kyoku="paid"), NUM_TABLES)
    places = {int(ends.games[n]): ends.placements[n] for ends in DEALS for n in range(len(ends.games))}
    for game, rewards in rewards_by_game(reward, DEALS).items():
        paid = np.array(EXPERT_8_DAN)[places[game] - 1]
        np.testing.assert_allclose(sum(rewards), 200 * (paid - twin_predictions(game)[0]), atol=0.5)


def test_a_restored_reward_goes_on_as_the_unbroken_one() -> None:
    first, second = GlobalReward(PREDICTION, NUM_TABLES), GlobalReward(PREDICTION, NUM_TABLES)
    for ends in DEALS[:700]:
        first(ends)
    second.restore(first.state())
    for ends in DEALS[700:900]:
        np.testing.assert_array_equal(first(ends), second(ends))


def test_a_game_whose_first_deal_is_missing_begins_with_the_scores_before_the_second() -> None:
    deal = DEALS[next(n for n, ends in enumerate(DEALS) if len(ends.numbers) and (ends.numbers > 0).all())]
    as_first = replace(deal, numbers=np.zeros_like(deal.numbers))
    changes = GlobalReward(PREDICTION, NUM_TABLES)(deal)
    np.testing.assert_array_equal(changes, GlobalReward(PREDICTION, NUM_TABLES)(as_first))


def test_the_digest_changes_with_the_weights_and_with_what_the_places_are_worth() -> None:
    weights = PREDICTION.weights._replace(inputs_1=PREDICTION.weights.inputs_1 * 2)
    others = [replace(PREDICTION, weights=weights), replace(PREDICTION, points=(90.0, 45.0, 0.0, -180.0))]
    assert len({one.digest for one in [PREDICTION, *others]}) == 3
    assert PREDICTION.digest == replace(PREDICTION).digest
