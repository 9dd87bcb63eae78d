"""What agents think of the decisions of a recorded game."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from numpy.typing import NDArray

from suphx.games.riichi.records.decisions import NO_ACTION, recorded_decisions
from suphx.games.riichi.table import PASS, RIICHI, TSUMOGIRI
from suphx.games.riichi.tables import ScriptedAgent
from suphx.selfplay.agents import opinion
from suphx.selfplay.agents.opinion import agent_opinions
from tests.games.riichi.builders.games import random_game
from tests.selfplay.agents.small_agent import small_agent

GAME = random_game(0)
DECISIONS = recorded_decisions(dataclasses.replace(GAME, kyokus=GAME.kyokus[:4], final_scores=None))


def test_an_agent_with_nets_judges_every_legal_move() -> None:
    agent = small_agent()
    opinions = agent_opinions(agent, DECISIONS)
    chances = opinions.probabilities
    legal: NDArray[np.bool_] = DECISIONS.tables["legal"].view(np.bool_)
    assert opinions.name == agent.name
    assert legal[np.arange(len(legal)), opinions.actions].all()
    assert np.isnan(chances[~legal]).all()
    assert np.isnan(chances[:, PASS]).all()
    discards = np.nan_to_num(chances[:, : TSUMOGIRI + 1]).sum(axis=1)
    has_discards = discards > 0
    np.testing.assert_allclose(discards[has_discards], 1, atol=1e-5)
    # Figure 1 asks the discard net only if nobody declares riichi; here it is asked all the same.
    may_declare = ~np.isnan(chances[:, RIICHI])
    assert may_declare.any()
    assert has_discards[may_declare].all()


def test_the_agent_discards_what_has_the_highest_probability() -> None:
    opinions = agent_opinions(small_agent(), DECISIONS)
    chances = opinions.probabilities[:, : TSUMOGIRI + 1]
    is_discard = (opinions.actions <= TSUMOGIRI) & ~np.isnan(chances).all(axis=1)
    best = np.nanmax(chances[is_discard], axis=1)
    chosen = chances[is_discard, opinions.actions[is_discard]]
    assert is_discard.any()
    np.testing.assert_allclose(chosen, best, rtol=1e-5)


def test_a_scripted_agent_has_choices_and_no_probabilities(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opinion, "_DECISIONS_A_CALL", 50)
    told: list[float] = []
    opinions = agent_opinions(ScriptedAgent("ukeire"), DECISIONS, progress=told.append)
    assert sum(told) == len(DECISIONS.tables)
    assert set(told[:-1]) == {50}
    assert np.isnan(opinions.probabilities).all()
    expected = ScriptedAgent("ukeire").act(DECISIONS.tables, np.arange(len(DECISIONS.tables)))
    np.testing.assert_array_equal(opinions.actions, expected)


def test_an_agent_is_asked_at_the_decisions_of_some_seats_only() -> None:
    agent = small_agent()
    whole, part = agent_opinions(agent, DECISIONS), agent_opinions(agent, DECISIONS, (1, 3))
    asked = np.isin(DECISIONS.tables["actor"], (1, 3))
    assert 0 < asked.sum() < len(asked)
    np.testing.assert_array_equal(part.actions, np.where(asked, whole.actions, NO_ACTION))
    np.testing.assert_allclose(part.probabilities[asked], whole.probabilities[asked], atol=1e-5)
    assert np.isnan(part.probabilities[~asked]).all()
