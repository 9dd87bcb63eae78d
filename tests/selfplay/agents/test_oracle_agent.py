"""Agents that see what is hidden: they play in the same matches as all others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.features.oracle import ORACLE, seen_planes
from suphx.games.riichi.hidden import determinise
from suphx.games.riichi.names import DISCARD_HEAD, HEAD_NAMES
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.selfplay.decision import UNDECIDED, observe_head
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.tables import ScriptedAgent
from suphx.kernel.record import Records
from suphx.models.checkpoint import load_header
from suphx.models.net_config import NetConfig
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.agents.net_agent import NetAgent
from suphx.selfplay.agents.policy_set import (
    PolicySet,
    load_policy_set,
    random_policy_set,
    save_policy_set,
    seeing_hidden,
    seeing_nothing_hidden,
)

MINI = find_encoder("mini")
HEADS = tuple(range(len(HEAD_NAMES)))


def public_player() -> PolicySet:
    return random_policy_set("mini", NetConfig(size="tiny"), 1, game="riichi")


def trained_oracle(heads: tuple[int, ...] = HEADS) -> PolicySet:
    """Return nets for whom what is hidden counts."""
    policy_set = seeing_hidden(public_player(), heads)
    torch.manual_seed(2)
    for head in heads:
        hidden = policy_set.policies[head].trunk.stem.conv.weight.data[:, -ORACLE.num_planes :]
        hidden.copy_(torch.randn(hidden.shape) / 4)
    return policy_set


def agent_of(policy_set: PolicySet, keep_probability: float = 1.0) -> NetAgent:
    return NetAgent("nets", policy_set.nets, MINI.name, keep_probability=keep_probability)


@pytest.fixture(scope="module")
def tables() -> Records:
    """Positions at all kinds of decisions."""
    simulator = Simulator(60, tenhou())
    simulator.reset(range(60))
    found = []
    for _ in range(60):
        waiting = simulator.waiting()
        found.append(simulator.tables[waiting[::6]].copy())
        simulator.advance(waiting, ScriptedAgent("ukeire").act(simulator.tables, waiting))
    return np.concatenate(found)


def everybody(tables: Records) -> np.ndarray:
    return np.arange(len(tables))


def test_at_keep_probability_0_what_is_hidden_changes_no_bit_of_any_answer(tables: Records) -> None:
    policy_set = trained_oracle()
    others = determinise(tables, tables["actor"], everybody(tables))
    undecided = np.full(len(tables), UNDECIDED, np.int16)
    num_rows, num_changed = 0, 0
    for net in policy_set.policies:
        logits = {}
        for keep_probability in (0.0, 0.5):
            for name, dealt in (("true", tables), ("other", others)):
                asked = observe_head(
                    dealt, everybody(tables), undecided, MINI, net.kind.number, keep_probability=keep_probability
                )
                seen = seen_planes(asked.observations.planes, net.num_planes, ORACLE.num_planes)
                logits[keep_probability, name] = net(torch.from_numpy(seen)).detach().numpy()
        assert logits[0.0, "true"].tobytes() == logits[0.0, "other"].tobytes()
        num_rows += len(logits[0.0, "true"])
        num_changed += int((logits[0.5, "true"] != logits[0.5, "other"]).any(axis=1).sum())
    assert num_changed > 0.9 * num_rows > 500
    blind = agent_of(policy_set, keep_probability=0.0)
    assert np.array_equal(blind.act(tables, everybody(tables)), blind.act(others, everybody(tables)))


def test_without_its_oracle_planes_an_agent_plays_as_at_keep_probability_0(tables: Records) -> None:
    policy_set = trained_oracle()
    public = agent_of(seeing_nothing_hidden(policy_set)).act(tables, everybody(tables))
    assert np.array_equal(public, agent_of(policy_set, keep_probability=0.0).act(tables, everybody(tables)))
    assert not np.array_equal(public, agent_of(policy_set).act(tables, everybody(tables)))


def test_new_oracle_planes_change_no_answer(tables: Records) -> None:
    public = public_player()
    guided = seeing_hidden(public, [DISCARD_HEAD])
    assert [net.config.num_oracle_planes > 0 for net in guided.policies] == [head == DISCARD_HEAD for head in HEADS]
    expected = agent_of(public).act(tables, everybody(tables))
    assert np.array_equal(agent_of(guided).act(tables, everybody(tables)), expected)


def test_an_oracle_agent_answers_the_same_in_any_batch(tables: Records) -> None:
    agent = agent_of(trained_oracle(), keep_probability=0.5)
    together = agent.act(tables, everybody(tables)[:100])
    assert together.tolist() == [int(agent.act(tables, np.array([i]))[0]) for i in range(100)]


def test_a_checkpoint_says_what_its_net_sees(tmp_path: Path, tables: Records) -> None:
    policy_set = trained_oracle((DISCARD_HEAD,))
    save_policy_set(tmp_path, policy_set, "mini", rules="tenhou-1", step=1, extra={"keep_probability": 0.5})
    header = load_header(tmp_path / "discard.safetensors")
    assert str(header.oracle_planes) == f"{ORACLE.name} version {ORACLE.version} ({ORACLE.num_planes})"
    assert load_header(tmp_path / "chow.safetensors").oracle_planes is None
    loaded = load_agent(str(tmp_path)).act(tables, everybody(tables))
    assert np.array_equal(loaded, agent_of(policy_set, keep_probability=0.5).act(tables, everybody(tables)))
    assert not np.array_equal(loaded, agent_of(policy_set).act(tables, everybody(tables)))


def test_a_checkpoint_of_other_oracle_planes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_policy_set(tmp_path, trained_oracle((DISCARD_HEAD,)), "mini", rules="tenhou-1", step=1, extra={})
    monkeypatch.setattr("suphx.models.checkpoint.oracle_version", lambda kind, config: None)
    with pytest.raises(ValueError, match=r"it was trained on the oracle planes suphx-oracle version 1 \(137\)"):
        load_policy_set(tmp_path, "mini", game="riichi")
