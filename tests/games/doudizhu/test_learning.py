"""Self-play of DouDizhu through the learning half of the contract."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from suphx.experience.observation import FIRST_OLDER, LATEST, Observations, OpponentConfig, PolicyOutputs
from suphx.games.doudizhu.engine import Simulator
from suphx.games.doudizhu.learning import ENCODER, DouDizhuLearning, DouDizhuLearningTables
from suphx.games.doudizhu.names import DECISIONS
from suphx.games.doudizhu.table import NUM_SEATS, Rules
from suphx.games.learning import LearningConfig

LEARNING = DouDizhuLearning()
RULES = Rules(scoring="points")


def new_tables(num_tables: int = 8, **config: object) -> DouDizhuLearningTables:
    settings = LearningConfig(**{"num_tables": num_tables, "learned": (0, 1, 2), **config})  # type: ignore[arg-type]
    return LEARNING.new_learning_tables(settings, ENCODER, RULES, first_seed=5)


def at_random(part: Observations) -> PolicyOutputs:
    """Answer with the candidate at the quantile of the row's uniform; the version tells the row."""
    assert part.candidates is not None
    counts = np.diff(part.candidates.offsets)
    outputs = PolicyOutputs.blank(len(part), 0)
    outputs.actions[:] = (part.uniforms * counts).astype(np.int16)
    return outputs


def test_games_are_played_to_their_ends_and_decisions_get_the_points_of_their_seat() -> None:
    tables, seen = new_tables(), []
    num_games = num_kept = 0
    while num_games < 20:
        observed = tables.observe()
        assert sum(map(len, observed)) == 8
        for part in observed:
            layout = LEARNING.layout(ENCODER, part.decision)
            assert part.planes.shape == (len(part), layout.observation_bytes)
            assert part.candidates is not None
            assert (np.diff(part.candidates.offsets) > 1).all()
            seen.append(part)
        ended = tables.step([at_random(part) for part in observed])
        assert (ended.points != 0).all()
        assert (ended.points[:, 1] == ended.points[:, 2]).all()
        for kind, decisions in zip(DECISIONS, ended.with_rewards(ended.points), strict=True):
            assert decisions.decision == kind.number
            assert decisions.candidates is not None
            assert len(decisions.candidates) == len(decisions)
            assert (np.diff(decisions.candidates.offsets) > decisions.actions).all()
            assert decisions.is_last.sum() <= ended.num_games
            assert set(decisions.rewards.tolist()) <= set(ended.points[:, kind.number].tolist())
            num_kept += len(decisions)
        num_games += ended.num_games
    assert num_kept > 20 * 10
    assert len(seen) > 20


def test_decisions_hold_what_was_observed() -> None:
    tables, by_seat = new_tables(num_tables=1), [list[bytes]() for _ in range(NUM_SEATS)]
    ended = None
    while ended is None or not ended.num_games:
        (part,) = tables.observe()
        by_seat[part.decision].append(part.planes.tobytes())
        ended = tables.step([at_random(part)])
    for seat, decisions in enumerate(ended.with_rewards(ended.points)):
        assert [row.tobytes() for row in decisions.planes.dense()] == by_seat[seat]


def test_restored_tables_go_on_as_the_others() -> None:
    opponents = OpponentConfig(latest=1, weak=1, older=1, num_older=2)
    tables = new_tables(opponents=opponents, first_steps=4)
    for _ in range(40):
        tables.step([at_random(part) for part in tables.observe()])
    restored = new_tables(opponents=opponents, first_steps=4)
    restored.restore(tables.state())
    policies = set[int]()
    for _ in range(60):
        ends = []
        for own in (tables, restored):
            observed = own.observe()
            policies |= {int(policy) for part in observed for policy in part.policies}
            ended = own.step([at_random(part) for part in observed])
            ends.append([decisions.arrays() for decisions in ended.with_rewards(ended.points)])
        for mine, others in zip(*ends, strict=True):
            for name, column in mine.items():
                np.testing.assert_array_equal(column, others[name])
    assert policies == {LATEST, LATEST + 1, FIRST_OLDER, FIRST_OLDER + 1}


def test_only_the_latest_policy_is_learned_from() -> None:
    tables = new_tables(num_tables=64, opponents=OpponentConfig(latest=0.001, weak=1))
    latest = kept = 0
    for _ in range(100):
        observed = tables.observe()
        outputs = [replace(at_random(part), versions=part.policies) for part in observed]
        ended = tables.step(outputs)
        for decisions in ended.with_rewards(ended.points):
            assert not decisions.versions.any()
            kept += len(decisions)
        latest += sum(int((part.policies == LATEST).sum()) for part in observed)
    assert 0 < kept <= latest


def test_what_is_not_offered_is_refused() -> None:
    with pytest.raises(ValueError, match="DouDizhu does not offer hidden"):
        new_tables(options=frozenset({"hidden"}))
    with pytest.raises(ValueError, match="'mini' is no encoder: use douzero"):
        LEARNING.new_learning_tables(LearningConfig(num_tables=1, learned=()), "mini", RULES, first_seed=0)
    tables = new_tables()
    outputs = [at_random(part) for part in tables.observe()]
    outputs[0].actions[0] = 9999
    with pytest.raises(ValueError, match=r"9999 is not one of the \d+ candidates of row 0"):
        tables.step(outputs)


def test_agents_decide_as_self_play_does() -> None:
    simulator = Simulator(6, RULES)
    simulator.reset(range(5, 11))
    asked = 0
    while (waiting := simulator.waiting()).size:

        def forward(observations: Observations, lines: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            nonlocal asked
            assert (simulator.tables["actor"][lines] == observations.decision).all()
            asked += len(lines)
            outputs = at_random(observations)
            return outputs.actions, outputs.scores

        simulator.advance(waiting, LEARNING.decide(simulator, waiting, ENCODER, forward))
    assert asked > 60
    assert (simulator.tables["winner"] >= 0).all()
