from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from suphx.experience.columns import joined
from suphx.experience.decisions import Decisions
from suphx.experience.observation import FIRST_OLDER, LATEST, WEAK, OpponentConfig
from suphx.games.learning import LearningConfig
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.names import CHOW_HEAD, CLAIM_HEADS, DISCARD_HEAD, HEAD_NAMES, PONG_HEAD, RIICHI_HEAD
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.selfplay.decision import UNDECIDED, observe_head
from suphx.games.riichi.selfplay.table_group import KyokuEnds, TableGroup
from suphx.games.riichi.table import PASS, TABLE
from suphx.selfplay.rollouts.rollout import play_games
from tests.selfplay.row_nets import RowAgent, policy_outputs

MINI = find_encoder("mini")
ALL_HEADS = tuple(range(len(HEAD_NAMES)))


def new_group(num_tables: int = 3, first_seed: int = 100, **config: object) -> TableGroup:
    settings = LearningConfig(**{"num_tables": num_tables, "learned": (DISCARD_HEAD,), **config})  # type: ignore[arg-type]
    return TableGroup(settings, MINI, tenhou(), first_seed=first_seed)


def play(group: TableGroup, steps: int, version: int = 0) -> tuple[list[KyokuEnds], list[Decisions]]:
    """Play ``steps`` decisions a table; return how deals ended and what the first head decided in them."""
    kyokus, decisions = [], []
    for _ in range(steps):
        ended = group.step([policy_outputs(observations, version) for observations in group.observe()])
        ends = ended.ends
        kyokus.append(ends)
        rewards = (ends.scores_after - ends.scores_before).astype(np.float32)
        decisions.append(ended.with_rewards(rewards)[0])
    return kyokus, decisions


def final_scores(kyokus: list[KyokuEnds]) -> dict[int, list[tuple[int, ...]]]:
    """Return the scores after each deal of the games that are over."""
    scores: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    over = set()
    for ends in kyokus:
        for i, game in enumerate(ends.games):
            assert len(scores[game]) == ends.numbers[i]
            scores[int(game)].append(tuple(map(int, ends.scores_after[i])))
            if ends.placements[i].any():
                over.add(int(game))
    return {game: scores[game] for game in over}


def test_the_claim_after_a_no_is_one_of_the_same_table() -> None:
    group, several = new_group(64), 0
    undecided = np.full(64, UNDECIDED, np.int16)
    for step in range(60):
        observed = group.observe()
        rng = np.random.default_rng(step)
        probabilities = [rng.random((len(part.masks), 2), np.float32) for part in observed]
        tables = group.state()["tables"].reshape(-1).view(TABLE)
        asked = [observe_head(tables, np.arange(64), undecided, MINI, part.decision) for part in observed]
        claims = [
            (table, candidate, yes)
            for part, each in zip(asked, probabilities, strict=True)
            if part.observations.decision in CLAIM_HEADS
            for table, candidate, yes in zip(
                part.owners.tolist(), part.candidates.tolist(), each[:, 1].tolist(), strict=True
            )
        ]
        for number, part in enumerate(asked):
            if part.observations.decision not in (CHOW_HEAD, PONG_HEAD):
                continue
            rows, no = np.arange(len(part.owners)), np.zeros((len(part.owners), 1), np.int16)
            after_no = group.branch(number, rows, no, probabilities).actions
            own = zip(part.owners.tolist(), part.candidates.tolist(), after_no.tolist(), strict=True)
            for table, candidate, action in own:
                wanted = [(yes, other) for at, other, yes in claims if at == table and other != candidate and yes > 0.5]
                assert action == max(wanted, default=(0.0, PASS))[1]
                several += bool(wanted)
        group.step([policy_outputs(part, 0) for part in observed])
    assert several > 10


def test_games_are_those_of_the_plain_decision_flow() -> None:
    played = final_scores(play(new_group(), 1500)[0])
    assert len(played) >= 3
    logs = play_games([RowAgent(MINI)], np.zeros((len(played), 4), np.int64), sorted(played), tenhou())
    for log, (_, scores) in zip(logs, sorted(played.items()), strict=True):
        assert len(log.kyokus) == len(scores)
        starts = [tuple(kyoku.scores) for kyoku in log.kyokus[1:]]
        assert starts == scores[:-1]


def test_a_game_does_not_depend_on_the_tables_beside_it() -> None:
    many = final_scores(play(new_group(num_tables=5), 1500)[0])
    alone = final_scores(play(new_group(num_tables=1), 1500)[0])
    assert alone
    assert alone == {game: many[game] for game in alone}


def test_tables_may_begin_one_after_another_and_play_the_same_games() -> None:
    slow = new_group(num_tables=5, first_steps=10)
    num_asked = [
        slow.step([policy_outputs(observations) for observations in slow.observe()]).num_decisions for _ in range(12)
    ]
    assert num_asked == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5, 5]
    at_once, slowly = final_scores(play(new_group(num_tables=5), 1500)[0]), final_scores(play(slow, 1500)[0])
    first_games = set(range(100, 105)) & set(at_once)
    assert first_games
    assert all(at_once[game] == slowly[game] for game in first_games)


def test_every_seat_gets_its_own_reward_and_its_decisions_in_the_order_of_play() -> None:
    group = new_group(num_tables=2)
    num_deals = 0
    for version in range(400):
        ended = group.step([policy_outputs(observations, version) for observations in group.observe()])
        gains = (ended.ends.scores_after - ended.ends.scores_before).astype(np.float32)
        unrewarded = ended.decisions[0]
        decisions = unrewarded.with_rewards(gains)
        for deal in range(len(gains)):
            num_deals += 1
            for seat in range(4):
                own = (unrewarded.ends == deal) & (unrewarded.seats == seat)
                assert (decisions.rewards[own] == gains[deal, seat]).all()
                assert (np.diff(decisions.versions[own]) > 0).all()
                assert (np.diff(decisions.take(np.flatnonzero(own)).versions) > 0).all()
    assert num_deals > 5


def test_trajectories_hold_what_was_asked_and_replied() -> None:
    group = new_group(num_tables=2)
    asked: dict[bytes, tuple[int, float]] = {}
    kept = []
    for version in range(200):
        observations = group.observe()
        outputs = [policy_outputs(part, version) for part in observations]
        for part, output in zip(observations, outputs, strict=True):
            if part.decision == DISCARD_HEAD:
                for row, action, log_prob in zip(part.planes, output.actions, output.log_probs, strict=True):
                    asked[row.tobytes()] = (int(action), float(log_prob))
        ended = group.step(outputs)
        kept.append(ended.with_rewards(np.zeros((len(ended.ends.games), 4), np.float32))[0])
    decisions = joined(kept)
    assert len(decisions) > 100
    for row, action, log_prob in zip(decisions.planes.dense(), decisions.actions, decisions.log_probs, strict=True):
        assert asked[row.tobytes()] == (action, log_prob)
    assert decisions.masks.sum(axis=1).min() >= 2, "decisions without a choice are not kept"


def test_riichi_and_calls_are_kept_when_their_heads_learn() -> None:
    group = new_group(num_tables=100, learned=ALL_HEADS)
    counts = dict.fromkeys(ALL_HEADS, 0)
    for _ in range(300):
        ended = group.step([policy_outputs(observations) for observations in group.observe()])
        for part in ended.with_rewards(np.zeros((len(ended.ends.games), 4), np.float32)):
            counts[part.decision] += len(part)
            assert part.decision == DISCARD_HEAD or set(part.actions.tolist()) <= {0, 1}
    assert all(counts.values()), counts
    assert counts[DISCARD_HEAD] > counts[RIICHI_HEAD]


def test_only_the_learning_seats_are_kept_and_the_mixture_is_as_wanted() -> None:
    mixture = OpponentConfig(latest=0.2, older=0.5, weak=0.3)
    group = new_group(num_tables=400, opponents=mixture)
    seats = np.concatenate([part.policies for part in group.observe() if part.decision == DISCARD_HEAD])
    shares = np.bincount(seats, minlength=FIRST_OLDER + 4) / len(seats)
    learner = 1 / 4
    expected = [learner + 0.75 * 0.2, 0.75 * 0.3, *[0.75 * 0.125] * 4]
    np.testing.assert_allclose(shares, expected, atol=0.08)
    assert (LATEST, WEAK) == (0, 1)
    _, parts = play(new_group(num_tables=8, opponents=OpponentConfig(latest=0, weak=1)), 200)
    _, alone = play(new_group(num_tables=8), 200)
    share = sum(map(len, parts)) / sum(map(len, alone))
    assert 0.15 < share < 0.35, "one seat of four learns"


@pytest.mark.parametrize("wrong", [{"num_tables": 0}, {"first_steps": 0}])
def test_wrong_settings_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} is 0: use at least 1"):
        new_group(**wrong)
