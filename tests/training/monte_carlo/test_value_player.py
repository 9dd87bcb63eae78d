from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from suphx.experience.seat_observations import SeatObservations
from suphx.games.candidate_game import candidate_game
from suphx.games.doudizhu import Rules, Simulator, TableGroup, load_moves, move_columns, play_games
from suphx.training.monte_carlo import value_player
from suphx.training.monte_carlo.value_nets import ValueNets, load_value_nets, save_value_nets
from suphx.training.monte_carlo.value_player import PlayedMoves, ValuePlayer, new_nets

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


COLUMNS = move_columns(load_moves())


@pytest.fixture(scope="module")
def nets() -> nn.ModuleList:
    return new_nets(GAME, 1).eval()


def dealt(num_tables: int) -> Simulator:
    simulator = Simulator(num_tables, Rules())
    simulator.reset(range(num_tables))
    return simulator


def test_the_same_seed_gives_the_same_nets_and_leaves_torch_alone(nets: nn.ModuleList) -> None:
    state = torch.random.get_rng_state()
    again = new_nets(GAME, 1)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(torch.equal(a, b) for a, b in zip(nets.parameters(), again.parameters(), strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(nets.parameters(), new_nets(GAME, 2).parameters(), strict=True))


def test_each_move_has_the_highest_value_of_its_table(nets: nn.ModuleList, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_player, "_MAX_CANDIDATES", 100)  # several parts
    columns = torch.from_numpy(COLUMNS)
    seen_counts: list[int] = []

    class CheckedPlayer(ValuePlayer):
        def choose(self, simulator: Simulator, seen: SeatObservations) -> np.ndarray:
            chosen = super().choose(simulator, seen)
            for i, (a, b) in enumerate(zip(seen.offsets[:-1], seen.offsets[1:], strict=True)):
                rows = torch.zeros(b - a, dtype=torch.int64)
                state, history = (torch.from_numpy(x[i : i + 1]) for x in (seen.states, seen.history))
                with torch.no_grad():
                    values = nets[seen.seat](state, history, columns[seen.moves[a:b].astype(np.int64)], rows)
                assert values[chosen[i] - a] >= values.max() - 1e-5
                seen_counts.append(int(b - a))
            return chosen

    play_games(dealt(2), [CheckedPlayer(nets, COLUMNS)], np.zeros((2, 3), np.int64))
    assert min(seen_counts) == 1
    assert max(seen_counts) > 20


def test_all_moves_are_written_down_in_the_order_of_the_game(nets: nn.ModuleList) -> None:
    played: list[PlayedMoves] = []
    simulator = dealt(3)
    play_games(simulator, [ValuePlayer(nets, COLUMNS, played=played)], np.zeros((3, 3), np.int64))
    for number, table in enumerate(simulator.tables):
        moves = [int(m) for part in played for m in part.moves[part.tables == number]]
        assert moves == table["moves"][: table["num_moves"]].tolist()


def test_with_epsilon_moves_are_random_and_without_it_they_are_not(nets: nn.ModuleList) -> None:
    simulator = dealt(60)
    (seen,) = TableGroup(60, Rules(), first_seed=0).observe()
    greedy = ValuePlayer(nets, COLUMNS).choose(simulator, seen)
    assert (ValuePlayer(nets, COLUMNS).choose(simulator, seen) == greedy).all()
    curious = ValuePlayer(nets, COLUMNS, 0.5, np.random.default_rng(4)).choose(simulator, seen)
    assert 15 < (curious != greedy).sum() < 45
    assert ((seen.offsets[:-1] <= curious) & (curious < seen.offsets[1:])).all()


def test_nets_do_not_play_by_rules_with_other_moves_than_they_learned(nets: nn.ModuleList) -> None:
    player, rules = ValuePlayer(nets, COLUMNS), Rules(douzero_kickers=True)
    simulator = Simulator(2, rules)
    simulator.reset(range(2))
    (seen,) = TableGroup(2, rules, first_seed=0).observe()
    count = simulator.moves.num_moves
    message = f"learned rules with 27,472 moves, but the game is played by rules with {count:,}: use nets that learned"
    with pytest.raises(ValueError, match=message):
        player.choose(simulator, seen)
    with pytest.raises(ValueError, match=message):
        player.values(seen)
    with pytest.raises(ValueError, match=message):
        play_games(simulator, [player], np.zeros((2, 3), np.int64))
