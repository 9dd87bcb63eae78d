from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
import torch

import suphx.selfplay.branches
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.names import CHOW_HEAD, DISCARD_HEAD, PONG_HEAD, RIICHI_HEAD
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.selfplay.decision import UNDECIDED, observe_head
from suphx.games.riichi.selfplay.playout import branch
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import CHI, CLAIM, OWN_TURN, PASS, RIICHI, TABLE, TSUMO
from suphx.games.riichi.tables import ScriptedAgent
from suphx.kernel.record import Records
from suphx.models.inference import PackedNet
from suphx.models.sampling import masked_logits
from suphx.selfplay.agents.policy_set import random_policy_set
from suphx.selfplay.branches import BranchCollector, Branches, Net, probable_actions
from suphx.selfplay.config import BranchConfig
from tests.selfplay.agents.small_agent import SMALL


def test_discards_that_are_probable_enough_are_tried_the_most_probable_first() -> None:
    probabilities = torch.tensor([[0.1, 0.5, 0.02, 0.38], [0.97, 0.01, 0.01, 0.01], [0.5, 0.5, 0.0, 0.0]])
    choices = probable_actions(probabilities, max_branches=3, min_probability=0.05)
    assert choices[0].tolist() == [1, 3, 0]
    assert choices[1].tolist() == [-1, -1, -1], "nothing to compare"
    assert sorted(choices[2].tolist()) == [-1, 0, 1], "what is not legal is not tried"


def test_both_answers_to_a_call_are_tried_unless_yes_is_out_of_the_question() -> None:
    probabilities = torch.tensor([[0.999, 0.001], [0.9, 0.1], [0.001, 0.999], [0.5, 0.5]])
    choices = probable_actions(probabilities, max_branches=3, min_probability=0.05)
    assert choices.shape == (4, 2)
    assert choices[0].tolist() == [-1, -1]
    assert choices[1].tolist() == [0, 1]
    assert choices[2].tolist() == [1, 0]


def test_permuted_points_stay_in_their_row_and_with_answers_that_were_tried() -> None:
    rng = np.random.default_rng(1)
    choices = np.tile(np.array([[5, 2, 7], [3, 1, -1]], np.int16), (50, 1))
    points = rng.integers(1, 90, (100, 3)).astype(np.float32)
    points[1::2, 2] = 0
    part = Branches(
        np.zeros((100, 1), np.uint8), np.zeros((100, 0), np.uint8), choices, points, np.zeros(100, np.int64)
    )
    mixed = part.permuted(rng)
    np.testing.assert_array_equal(np.sort(mixed.points, axis=1), np.sort(points, axis=1))
    assert (mixed.points[1::2, 2] == 0).all()
    assert (mixed.points != points).any(axis=1).sum() > 50
    np.testing.assert_array_equal(mixed.choices, choices)


MINI = find_encoder("mini")
HEADS = (DISCARD_HEAD, CHOW_HEAD, PONG_HEAD)
NETS = [PackedNet(net) for net in random_policy_set("mini", SMALL, 3, game="riichi").policies]


def collector(**changes: object) -> BranchCollector:
    config = BranchConfig(**{"num_tables": 32, "num_walls": 1, "discard_share": 1.0, **changes})  # type: ignore[arg-type]
    return BranchCollector(config, HEADS, "mini", game="riichi", first_seed=500)


def assert_equal(first: Mapping[int, Branches], second: Mapping[int, Branches]) -> None:
    assert first.keys() == second.keys()
    for head, branches in first.items():
        for name in ("planes", "masks", "choices", "points", "deals"):
            np.testing.assert_array_equal(getattr(branches, name), getattr(second[head], name))


def test_decisions_come_with_the_points_of_their_actions() -> None:
    found = collector().collect(NETS, 600)
    assert sum(map(len, found.values())) >= 600
    discards = found[DISCARD_HEAD]
    assert discards.choices.shape[1] == 3
    legal = np.take_along_axis(discards.masks, np.maximum(discards.choices, 0), axis=1)
    assert legal[discards.choices >= 0].all()
    assert (discards.points[discards.choices < 0] == 0).all()
    assert (discards.points % 100 == 0).all()
    assert (discards.points[:, 0] != discards.points[:, 1]).any()
    for head in (CHOW_HEAD, PONG_HEAD):
        assert found[head].masks.shape[1] == 0
        assert set(found[head].choices.ravel().tolist()) == {0, 1}


def test_games_in_which_nothing_is_worth_a_try_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suphx.selfplay.branches, "_STEPS_IN_VAIN", 50)
    config = BranchConfig(num_tables=8, num_walls=1, discard_share=0.0)
    collector = BranchCollector(config, (DISCARD_HEAD,), "mini", game="riichi", first_seed=500)
    with pytest.raises(ValueError, match=r"in 50 steps of 8 games no decision of discard was to be played out: use a"):
        collector.collect(NETS, 1)


def test_a_riichi_is_compared_with_the_most_probable_discard() -> None:
    config = BranchConfig(num_tables=8, num_walls=1, discard_share=0.0)
    playing = BranchCollector(config, (RIICHI_HEAD,), "mini", game="riichi", first_seed=500)
    tables = ready_tables(8)
    playing.restore(playing.state() | {"tables": tables.view(np.uint8).reshape(8, -1), "num_steps": np.array([1000])})
    riichi = playing.collect(NETS, 1)[RIICHI_HEAD]
    assert len(riichi) == 8
    asked = observe_head(tables, np.arange(8), np.full(8, UNDECIDED, np.int16), MINI, DISCARD_HEAD).observations
    logits = NETS[DISCARD_HEAD](torch.from_numpy(asked.planes)).float()
    kinds = masked_logits(logits, torch.from_numpy(asked.masks)).argmax(dim=1).numpy()
    none = np.full(8, -1)
    branches = branch(tables, RIICHI_HEAD, np.arange(8), none, riichi.choices, after_no=kinds)
    np.testing.assert_array_equal(riichi.points, branches.points())
    assert (riichi.points[:, 0] != riichi.points[:, 1]).any()


def ready_tables(count: int) -> Records:
    """Return tables whose actor may declare riichi."""
    return find_tables(
        count,
        lambda tables: (
            (tables["phase"] == OWN_TURN) & (tables["legal"][:, RIICHI] == 1) & (tables["legal"][:, TSUMO] == 0)
        ),
    )


def find_tables(count: int, is_wanted: Callable[[Records], np.ndarray]) -> Records:
    """Return tables of games of ukeire for which ``is_wanted`` is true."""
    simulator, agent = Simulator(60, tenhou()), ScriptedAgent("ukeire")
    found: list[np.void] = []
    simulator.reset(range(60))
    while len(found) < count:
        tables, waiting = simulator.tables, simulator.waiting()
        found += [tables[i].copy() for i in np.flatnonzero(is_wanted(tables))]
        simulator.advance(waiting, agent.act(tables, waiting))
    return np.array(found[:count], TABLE)


@pytest.mark.parametrize("is_wanted", [True, False])
def test_no_to_a_chow_is_the_other_chow_if_the_nets_want_it_and_else_a_pass(is_wanted: bool) -> None:
    tables = find_tables(8, has_two_chows)
    playing = BranchCollector(
        BranchConfig(num_tables=8, num_walls=1, discard_share=0.0), (CHOW_HEAD,), "mini", game="riichi", first_seed=500
    )
    playing.restore(playing.state() | {"tables": tables.view(np.uint8).reshape(8, -1), "num_steps": np.array([1000])})
    nets: list[Net] = list(NETS)
    nets[CHOW_HEAD] = lambda rows: torch.tensor([0.0, 1.0 if is_wanted else -1.0]).repeat(len(rows), 1)
    chows = playing.collect(nets, 1)[CHOW_HEAD]
    asked = observe_head(tables, np.arange(8), np.full(8, UNDECIDED, np.int16), MINI, CHOW_HEAD)
    assert len(chows) == len(asked.candidates) == 16
    np.testing.assert_array_equal(asked.owners[::2], asked.owners[1::2])
    other = asked.candidates.reshape(8, 2)[:, ::-1].ravel()
    after_no = other if is_wanted else np.full(16, PASS)
    branches = branch(tables, CHOW_HEAD, asked.owners, asked.candidates, chows.choices, after_no=after_no)
    np.testing.assert_array_equal(chows.points, branches.points())
    assert (chows.points[:, 0] != chows.points[:, 1]).any()


def has_two_chows(tables: Records) -> np.ndarray:
    """Tell of which tables the actor has the choice between two chows and a pass."""
    has_two: np.ndarray = (
        (tables["phase"] == CLAIM) & (tables["num_legal"] == 3) & (tables["legal"][:, CHI:PASS].sum(axis=1) == 2)
    )
    return has_two


def test_decisions_of_one_deal_have_its_number() -> None:
    branches = collector().collect(NETS, 600)
    deals = {head: set(found.deals.tolist()) for head, found in branches.items()}
    assert 1 < len(deals[DISCARD_HEAD]) < len(branches[DISCARD_HEAD]) / 3
    assert deals[CHOW_HEAD] & deals[DISCARD_HEAD]
    counts = np.unique(branches[DISCARD_HEAD].deals, return_counts=True)[1]
    assert counts.max() < 100, "a deal has about 70 discards at most"


def test_it_goes_on_from_a_state_with_the_same_numbers() -> None:
    first = collector()
    first.collect(NETS, 200)
    state = {name: column.copy() for name, column in first.state().items()}
    other = collector()
    other.restore(state)
    assert_equal(first.collect(NETS, 200), other.collect(NETS, 200))


def test_a_share_of_the_discards_is_played_out_and_all_calls() -> None:
    whole, part = (collector(discard_share=share).collect(NETS, 800) for share in (1.0, 0.5))
    discards_per_call = [len(found[DISCARD_HEAD]) / (1 + len(found[PONG_HEAD])) for found in (part, whole)]
    assert 0 < discards_per_call[0] < 0.75 * discards_per_call[1]
    none = collector(discard_share=0.0).collect(NETS, 50)
    assert len(none[DISCARD_HEAD]) == 0
    assert len(none[CHOW_HEAD]) + len(none[PONG_HEAD]) >= 50
