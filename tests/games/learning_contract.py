"""What every game's learning tables must do."""

from __future__ import annotations

import pytest

from suphx.experience.observation import Observations, PolicyOutputs
from suphx.games.learning import LearningConfig
from suphx.games.registry import find_decisions, find_learning, load_game


def check_learning_tables(name: str) -> None:
    """Play with a game's learning tables, and restore them."""
    learning, kinds, seats = find_learning(name), find_decisions(name), len(load_game(name).seat_names)
    encoder, config = learning.encoders[0], LearningConfig(num_tables=4, learned=(0,))
    tables = learning.new_learning_tables(config, encoder, first_seed=1)
    deals = decisions = 0
    while not deals:
        observed = tables.observe()
        for part in observed:
            kind = kinds[part.decision]
            assert part.masks.shape == (len(part), kind.num_choices)
            assert part.planes.shape[1] == learning.observation_bytes(encoder, part.decision)
        ended = tables.step([first_legal(part) for part in observed])
        deals, decisions = deals + ended.num_deals, decisions + ended.num_decisions
        assert ended.num_games <= ended.num_deals
    assert ended.points.shape == (ended.num_deals, seats)
    (learned_part,) = ended.with_rewards(ended.points)
    assert learned_part.decision == 0
    assert 0 < len(learned_part) <= decisions
    other = learning.new_learning_tables(config, encoder, first_seed=1)
    other.restore(tables.state())
    for mine, restored in zip(tables.observe(), other.observe(), strict=True):
        assert (mine.planes == restored.planes).all()
    with pytest.raises(ValueError, match="nobody"):
        learning.new_learning_tables(config, "nobody", first_seed=1)


def first_legal(part: Observations) -> PolicyOutputs:
    """Answer the first legal choice, and no where yes and no are asked."""
    outputs = PolicyOutputs.blank(len(part), 0)
    if part.masks.shape[1]:
        outputs.actions[:] = part.masks.argmax(axis=1)
    return outputs
