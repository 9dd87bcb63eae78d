from __future__ import annotations

from pathlib import Path

import pytest
import torch

from suphx.games.candidate_game import candidate_game
from suphx.games.doudizhu import Rules
from suphx.training.monte_carlo.value_nets import ValueNets, load_value_nets, save_value_nets
from suphx.training.monte_carlo.value_player import new_nets

GAME = candidate_game("doudizhu")


def trained(rules: Rules) -> ValueNets:
    return ValueNets(GAME, rules, new_nets(GAME, 1))


def test_nets_come_back_with_their_rules(tmp_path: Path) -> None:
    saved = trained(Rules(scoring="points"))
    save_value_nets(tmp_path, saved)
    loaded = load_value_nets(tmp_path)
    assert (loaded.rules, loaded.game) == (saved.rules, GAME)
    assert load_value_nets(str(tmp_path)).rules == saved.rules
    assert all(torch.equal(a, b) for a, b in zip(saved.nets.parameters(), loaded.nets.parameters(), strict=True))


def test_nets_of_other_seats_and_other_trainings_are_refused(tmp_path: Path) -> None:
    save_value_nets(tmp_path, trained(Rules()))
    up, down = tmp_path / "landlord_up.safetensors", tmp_path / "landlord_down.safetensors"
    own = up.read_bytes()
    up.write_bytes(down.read_bytes())
    with pytest.raises(ValueError, match=r"landlord_up.safetensors has no net of the seat landlord_up, format 2"):
        load_value_nets(tmp_path)
    up.write_bytes(own)
    other = tmp_path / "other"
    other.mkdir()
    save_value_nets(other, trained(Rules(scoring="points")))
    (other / up.name).write_bytes(own)
    with pytest.raises(ValueError, match="learned different rules"):
        load_value_nets(other)
    up.unlink()
    with pytest.raises(FileNotFoundError, match="landlord_up"):
        load_value_nets(tmp_path)
