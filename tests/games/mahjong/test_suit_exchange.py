"""Exchanged suits: where choices go, read from their names, and samples whose masks and labels follow."""

from __future__ import annotations

import numpy as np
import pytest

from suphx.experience.observation import Samples
from suphx.games.mahjong.planes import SUIT_ORDERS
from suphx.games.mahjong.suit_exchange import KINDS, exchange_suits, exchanged_choices
from suphx.games.registry import find_decisions
from suphx.training.head_data import recorded_samples


def renamed(name: str, letters: str, new_letters: str) -> str:
    """Return the name of a choice with the letters of suits beside digits exchanged."""
    words = [word.translate(str.maketrans(letters, new_letters)) if len(word) == 2 else word for word in name.split()]
    return " ".join(words)


@pytest.mark.parametrize(("game", "letters"), [("riichi", "mps"), ("dazhong", "mps"), ("mcr", "WBT")])
def test_choices_are_called_by_the_names_with_exchanged_suits(game: str, letters: str) -> None:
    tables = recorded_samples(game).suit_choices
    for kind, choices in zip(find_decisions(game), tables, strict=True):
        assert choices.shape == (len(SUIT_ORDERS), kind.num_choices)
        for order, places in zip(SUIT_ORDERS.tolist(), choices.tolist(), strict=True):
            new_letters = "".join(letters[suit] for suit in order)
            for name, place in zip(kind.outputs if places else (), places, strict=True):
                assert kind.outputs[place] == renamed(name, letters, new_letters)


def new_samples(num_choices: int) -> Samples:
    rng = np.random.default_rng(1)
    masks = rng.integers(2, size=(50, num_choices), dtype=np.uint8)
    labels = rng.integers(num_choices, size=50).astype(np.int8)
    masks[np.arange(50), labels] = 1
    planes = rng.integers(256, size=(50, 17), dtype=np.uint8)  # four planes
    return Samples(planes, masks, labels)


def copy_of(samples: Samples) -> Samples:
    return Samples(samples.planes.copy(), samples.masks.copy(), samples.labels.copy())


def test_masks_and_labels_go_together_and_come_back() -> None:
    choices = exchanged_choices((0, 1), (7, 0), KINDS, KINDS)
    samples, orders = new_samples(90), np.arange(50) % 6
    first = copy_of(samples)
    exchange_suits(samples, orders, choices)
    assert samples.masks[np.arange(50), samples.labels].all()
    assert (samples.masks.sum(axis=1) == first.masks.sum(axis=1)).all()
    back = [SUIT_ORDERS.tolist().index(np.argsort(order).tolist()) for order in SUIT_ORDERS]
    exchange_suits(samples, np.array(back)[orders], choices)
    assert (samples.labels == first.labels).all()
    assert (samples.masks == first.masks).all()
