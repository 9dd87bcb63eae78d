from __future__ import annotations

import numpy as np
import pytest

from suphx.evaluation.deal_match import GameBranches, play_branches
from suphx.games.game import Agent
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.names import DISCARD_HEAD
from suphx.games.riichi.rules import tonpuu
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.tables import ScriptedAgent
from suphx.kernel.record import I32, I64
from suphx.selfplay.agents.net_agent import NetAgent
from suphx.selfplay.agents.policy_set import random_policy_set
from tests.selfplay.agents.small_agent import SMALL, small_agent

SEEDS = (3, 4, 5)


def sampled_agent(seed: int) -> NetAgent:
    encoder = find_encoder("mini")
    return NetAgent(
        "sampled",
        random_policy_set(encoder.name, SMALL, seed, game="riichi").nets,
        encoder.name,
        sampled=[DISCARD_HEAD],
    )


def branches(candidate: Agent, opponent: Agent, seeds: tuple[int, ...] = SEEDS, **options: int) -> list[GameBranches]:
    return list(play_branches(candidate, opponent, seeds, tonpuu(), **options))  # type: ignore[arg-type]


def play_twice(candidate: Agent, opponent: Agent, seed: int) -> tuple[I32, I32]:
    """Return what ``play_branches`` does for one game, by playing every deal five times from its start."""
    simulator = Simulator(1, tonpuu(), stops_at_kyoku_end=True)
    simulator.reset([seed])
    own, other = [], []
    while simulator.waiting().size:
        start = simulator.tables["scores"][0].copy()
        own.append([finish_deal(simulator, [candidate if s == seat else opponent for s in range(4)])[seat] - start[seat]
                    for seat in range(4)])  # fmt: skip
        scores = finish_deal(simulator, [opponent] * 4, keeps=True)
        other.append(scores - start)
        simulator.next_kyoku(np.zeros(1, np.int64))
    return np.array(own), np.array(other)


def finish_deal(simulator: Simulator, policy_sets: list[Agent], *, keeps: bool = False) -> I64:
    """Play the deal at hand to its end and return the scores; unless it ``keeps`` this, the table is as before."""
    before = simulator.tables.copy()
    while (waiting := simulator.waiting()).size:
        simulator.advance(waiting, policy_sets[int(simulator.tables["actor"][0])].act(simulator.tables, waiting))
    scores = np.array(simulator.tables["scores"][0], np.int64)
    if not keeps:
        simulator.tables[:] = before
    return scores


@pytest.mark.parametrize(
    ("candidate", "opponent"),
    [
        (ScriptedAgent("ukeire"), ScriptedAgent("tsumogiri")),
        (ScriptedAgent("random"), ScriptedAgent("ukeire")),
        (small_agent(1), sampled_agent(1)),
        (sampled_agent(2), sampled_agent(1)),
    ],
    ids=lambda agent: agent.name,
)
def test_branches_are_the_deals_played_again_from_their_start(candidate: Agent, opponent: Agent) -> None:
    seeds = SEEDS if isinstance(candidate, ScriptedAgent) else SEEDS[:2]  # nets that play alone take their time
    for seed, game in zip(seeds, branches(candidate, opponent, seeds), strict=True):
        own, other = play_twice(candidate, opponent, seed)
        assert game.candidate.tolist() == own.tolist()
        assert game.opponent.tolist() == other.tolist()
        assert game.differs.any()
        assert not (game.candidate != game.opponent)[~game.differs].any()


@pytest.mark.parametrize("agent", [ScriptedAgent("ukeire"), ScriptedAgent("random"), sampled_agent(1)])
def test_an_agent_never_differs_from_itself(agent: Agent) -> None:
    for game in branches(agent, agent):
        assert not game.differs.any()
        assert game.candidate.tolist() == game.opponent.tolist()
        assert len(game.opponent) >= 4, "a game of the east round has at least four deals"


def test_games_do_not_depend_on_those_beside_them() -> None:
    together = branches(ScriptedAgent("ukeire"), ScriptedAgent("tsumogiri"))
    alone = branches(ScriptedAgent("ukeire"), ScriptedAgent("tsumogiri"), num_games=1)
    for one, other in zip(together, alone, strict=True):
        assert one.candidate.tolist() == other.candidate.tolist()
        assert one.differs.tolist() == other.differs.tolist()


class Follower(ScriptedAgent):
    """Wants to know how games came to where they are."""

    max_tables = 1

    def follow(self, recorder: object) -> None:
        raise AssertionError("nobody tells it")

    def leave(self) -> None:
        raise AssertionError("nobody tells it")

    def forfeits(self, index: int) -> dict[int, str]:
        raise AssertionError("nobody asks it")


class TableKeeper(ScriptedAgent):
    """Keeps what it needs by table, as run-time adaptation does."""

    needs_same_table = True


@pytest.mark.parametrize("agent", [Follower("ukeire"), TableKeeper("ukeire")])
def test_an_agent_that_cannot_play_copies_of_tables_is_refused(agent: ScriptedAgent) -> None:
    with pytest.raises(ValueError, match="ukeire follows whole games and cannot play a single deal again"):
        branches(agent, ScriptedAgent("random"))
