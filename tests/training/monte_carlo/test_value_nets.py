from __future__ import annotations

from pathlib import Path

import pytest
import torch

from suphx.games.doudizhu import Rules
from suphx.training.monte_carlo.value_nets import load_value_nets, save_value_nets
from suphx.training.monte_carlo.value_player import new_nets


def test_nets_come_back_with_their_rules(tmp_path: Path) -> None:
    nets, rules = new_nets(1), Rules(scoring="points")
    save_value_nets(tmp_path, nets, rules)
    loaded, found = load_value_nets(tmp_path)
    assert found == rules
    assert all(torch.equal(a, b) for a, b in zip(nets.parameters(), loaded.parameters(), strict=True))


def test_nets_of_other_seats_and_other_trainings_are_refused(tmp_path: Path) -> None:
    save_value_nets(tmp_path, new_nets(1), Rules())
    up, down = tmp_path / "landlord_up.safetensors", tmp_path / "landlord_down.safetensors"
    own = up.read_bytes()
    up.write_bytes(down.read_bytes())
    with pytest.raises(ValueError, match=r"landlord_up.safetensors has no net of the seat landlord_up, format 1"):
        load_value_nets(tmp_path)
    up.write_bytes(own)
    other = tmp_path / "other"
    other.mkdir()
    save_value_nets(other, new_nets(1), Rules(scoring="points"))
    (other / up.name).write_bytes(own)
    with pytest.raises(ValueError, match="learned different rules"):
        load_value_nets(other)
    up.unlink()
    with pytest.raises(FileNotFoundError, match="landlord_up"):
        load_value_nets(tmp_path)
