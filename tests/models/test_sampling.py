from __future__ import annotations

import numpy as np
import torch

from suphx.models.sampling import _actions_of_tensors, actions_at, list_actions_at, masked_logits

NO_MASKS = torch.zeros(3, 0, dtype=torch.uint8)


def test_illegal_outputs_get_minus_infinity() -> None:
    logits = torch.arange(6.0).view(2, 3)
    masks = torch.tensor([[1, 0, 1], [0, 1, 0]], dtype=torch.uint8)
    inf = torch.inf
    assert torch.equal(masked_logits(logits, masks), torch.tensor([[0.0, -inf, 2.0], [-inf, 4.0, -inf]]))


def test_places_choose_actions_in_proportion_and_never_an_illegal_one() -> None:
    logits = torch.tensor([[1.0, 5.0, 0.0, 0.0]]).repeat(1001, 1)
    masks = torch.tensor([[1, 0, 1, 1]]).repeat(1001, 1)
    uniforms = torch.linspace(0, 1, 1001)
    actions, log_probs = actions_at(logits, masks, uniforms)
    shares = torch.bincount(actions, minlength=4) / 1001
    probabilities = torch.softmax(torch.tensor([1.0, -torch.inf, 0.0, 0.0]), dim=0)
    torch.testing.assert_close(shares, probabilities, atol=0.002, rtol=0)
    torch.testing.assert_close(log_probs.exp(), probabilities[actions])


def test_the_ends_of_a_certain_choice_are_that_choice() -> None:
    actions, log_probs = actions_at(torch.zeros(2, 34), torch.eye(34)[[7, 33]], torch.tensor([0.0, 1.0]))
    assert actions.tolist() == [7, 33]
    assert log_probs.tolist() == [0.0, 0.0]


def test_a_cpu_and_a_gpu_choose_alike() -> None:
    torch.manual_seed(0)
    logits, uniforms = 5 * torch.randn(500, 34), torch.rand(500)
    masks = (torch.rand(500, 34) < 0.3).byte()
    masks[:, 3] = 1
    for legal in (masks, torch.zeros(500, 0)):
        actions, log_probs = actions_at(logits, legal, uniforms)
        other_actions, _ = _actions_of_tensors(logits, legal, uniforms)
        assert (actions == other_actions).float().mean() > 0.99, "only a rounding error at a border may differ"
        torch.testing.assert_close(
            log_probs, torch.log_softmax(masked_logits(logits, legal), 1).gather(1, actions[:, None])[:, 0]
        )


def test_candidates_are_chosen_as_masked_rows_are() -> None:
    rng = np.random.default_rng(3)
    counts = rng.integers(1, 7, 40)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    logits = torch.from_numpy(rng.normal(0, 3, offsets[-1]).astype(np.float32))
    masks = torch.from_numpy(np.arange(counts.max()) < counts[:, None])
    rows = torch.zeros(masks.shape).masked_scatter(masks, logits)
    uniforms = rng.random(40).astype(np.float32)
    places, log_probs = list_actions_at(logits, offsets, uniforms)
    actions, others = actions_at(rows, masks, torch.from_numpy(uniforms))
    assert places.tolist() == actions.tolist()
    np.testing.assert_allclose(log_probs, others, rtol=1e-5)
