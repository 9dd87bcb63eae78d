from __future__ import annotations

import numpy as np
import torch

from suphx.games.riichi.hidden import determinise
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import GAME_END, KYOKU_START, OWN_TURN
from suphx.games.riichi.tables import ScriptedAgent
from suphx.kernel.record import Records
from suphx.selfplay.rollouts.deal_play import draw_starts, play_deals
from tests.selfplay.agents.small_agent import small_agent


def test_starts_are_different_deals_in_which_nobody_has_discarded() -> None:
    starts = draw_starts(ScriptedAgent("ukeire"), 60, seed=3)
    assert len(starts) == 60
    assert (starts["phase"] == OWN_TURN).all()
    np.testing.assert_array_equal(starts["actor"], starts["kyoku"] % 4)
    assert not starts["river_length"].any()
    assert len({(int(t["wall_seed"]), int(t["num_kyoku"])) for t in starts}) == 60
    assert len(np.unique(starts["kyoku"])) >= 7  # from all parts of games
    np.testing.assert_array_equal(starts["scores"].sum(axis=1) + 1000 * starts["kyotaku"], 100_000)


SEAT = 2


def new_deals(count: int, seed: int = 0) -> Records:
    """Deals in which seat 2 has the same hand."""
    simulator = Simulator(1, tenhou())
    simulator.reset([seed])
    return determinise(np.repeat(simulator.tables, count), SEAT, np.arange(count))


def seats(deals: Records) -> np.ndarray:
    return np.full(len(deals), SEAT)


def test_without_keys_the_agent_plays_every_deal_to_its_end() -> None:
    agent = small_agent()
    deals = new_deals(20)
    simulator = Simulator(20, tenhou(), stops_at_kyoku_end=True)
    simulator.tables[:] = deals
    while (waiting := simulator.waiting()).size:
        simulator.advance(waiting, agent.act(simulator.tables, waiting))
    kept = play_deals(deals, seats(deals), agent)
    assert not kept.log_probs.any()
    choices = agent.discard_logits(kept.planes).masked_fill(torch.from_numpy(kept.masks) == 0, -torch.inf).argmax(dim=1)
    np.testing.assert_array_equal(kept.actions, choices.numpy())
    assert set(np.unique(deals["phase"])) <= {KYOKU_START, GAME_END}
    np.testing.assert_array_equal(deals["deltas"], simulator.tables["deltas"])
    np.testing.assert_array_equal(deals["scores"].sum(axis=1) + 1000 * deals["kyotaku"], 100_000)
    np.testing.assert_array_equal(deals["num_decisions"], simulator.tables["num_decisions"])


def test_sampled_discards_are_those_of_the_policy_and_are_kept_in_order() -> None:
    agent = small_agent()
    deals = new_deals(30)
    kept = play_deals(deals, seats(deals), agent, keys=np.arange(30) + 7)
    assert set(kept.deals.tolist()) <= set(range(30))
    assert len(kept) > 150  # a seat discards some ten times
    log_probs = torch.log_softmax(
        agent.discard_logits(kept.planes).masked_fill(torch.from_numpy(kept.masks) == 0, -torch.inf), dim=1
    )
    taken = log_probs.gather(1, torch.from_numpy(kept.actions).unsqueeze(1)).squeeze(1)
    np.testing.assert_allclose(kept.log_probs, taken.numpy(), atol=1e-4)
    assert (kept.masks.sum(axis=1) > 1).all()
    # It is a sample: as a mean over many, the share of a kind is its probability.
    expected, found = np.exp(log_probs.numpy()).mean(axis=0), np.bincount(kept.actions, minlength=34) / len(kept)
    assert np.abs(expected - found).max() < 0.1


def test_a_deal_goes_as_it_does_alone() -> None:
    agent = small_agent()
    keys = np.arange(12) + 100
    together, alone = new_deals(12), new_deals(12)[7:8]
    kept = play_deals(together, seats(together), agent, keys=keys, num_tables=5)
    own = play_deals(alone, seats(alone), agent, keys=keys[7:8])
    np.testing.assert_array_equal(together["scores"][7], alone["scores"][0])
    part = kept.of_deals(7, 8)
    np.testing.assert_array_equal(part.actions, own.actions)
    np.testing.assert_array_equal(part.planes, own.planes)
    np.testing.assert_array_equal(part.deals, np.zeros(len(part)))


def test_the_seats_own_net_decides_its_discards_only() -> None:
    agent, other = small_agent(0), small_agent(1)
    own, changed = new_deals(24), new_deals(24)
    assert len(play_deals(own, seats(own), agent, keeps=False)) == 0
    half = np.repeat([0, 1], 12)
    play_deals(changed, seats(changed), agent, nets=[agent.discard_net, other.discard_net], net_of_deal=half)
    differs = (own["num_decisions"] != changed["num_decisions"]) | (own["river"] != changed["river"]).any(axis=(1, 2))
    assert not differs[:12].any()
    assert differs[12:].sum() >= 10
