from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from suphx.games.candidate_game import candidate_game
from suphx.games.doudizhu import Rules
from suphx.training.monte_carlo.monte_carlo_config import MonteCarloConfig
from suphx.training.monte_carlo.monte_carlo_step import learn_samples, new_value_optimizer
from suphx.training.monte_carlo.round_player import ChoiceSamples, RoundPlayer, choice_loss
from suphx.training.monte_carlo.value_player import new_nets

GAME = candidate_game("doudizhu")
CONFIG = MonteCarloConfig(games=4, batches=1, imitates="rule", device="cpu", precision="fp32")


def played(config: MonteCarloConfig = CONFIG) -> list[ChoiceSamples]:
    nets = new_nets(GAME, config.seed)
    samples = RoundPlayer(config, GAME, Rules(), nets, is_bf16=False).play(3)
    found = [part for part in samples if isinstance(part, ChoiceSamples)]
    assert len(found) == len(GAME.seat_names)
    return found


def test_the_loss_is_that_of_a_numpy_twin() -> None:
    rng = np.random.default_rng(0)
    offsets, chosen = np.array([0, 2, 7, 10]), np.array([1, 3, 9])
    values = rng.normal(size=10)
    costs = []
    for first, last, yes in zip(offsets[:-1], offsets[1:], chosen, strict=True):
        no = [np.log1p(np.exp(values[row])) for row in range(first, last) if row != yes]
        costs.append((np.log1p(np.exp(-values[yes])) + np.mean(no)) / 2)
    assert float(choice_loss(torch.from_numpy(values).float(), offsets, chosen)) == pytest.approx(np.mean(costs), 1e-5)


def test_samples_are_the_decisions_of_the_scripted_agent_that_has_a_choice() -> None:
    columns = GAME.candidate_columns(Rules())
    for samples in played():
        counts = np.diff(samples.offsets)
        assert len(samples) > 10
        assert counts.min() > 1
        assert (samples.offsets[:-1] <= samples.chosen).all()
        assert (samples.chosen < samples.offsets[1:]).all()
        assert samples.candidates.shape == (samples.offsets[-1], columns.shape[1])


def test_rows_take_the_candidates_along() -> None:
    whole = played()[1]
    order = np.array([5, 0, 7])
    part = whole.rows(order)
    for own, row in zip(range(3), order, strict=True):
        mine = part.candidates[part.offsets[own] : part.offsets[own + 1]]
        theirs = whole.candidates[whole.offsets[row] : whole.offsets[row + 1]]
        np.testing.assert_array_equal(mine, theirs)
        assert part.chosen[own] - part.offsets[own] == whole.chosen[row] - whole.offsets[row]
    np.testing.assert_array_equal(part.states, whole.states[order])


def test_a_net_learns_the_moves_of_the_agent() -> None:
    samples, net = played(replace(CONFIG, games=2))[0], new_nets(GAME, 1)[0]
    optimizer = new_value_optimizer(net, CONFIG)
    losses = [learn_samples(net, optimizer, samples, CONFIG.max_grad_norm) for _ in range(70)]
    assert losses[0] == pytest.approx(np.log(2), rel=0.01)  # yes and no count the same
    assert np.mean(losses[-10:]) < 0.7 * losses[0]
