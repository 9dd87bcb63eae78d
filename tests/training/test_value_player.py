from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from suphx.experience.observation import F32, SeatObservations
from suphx.games.doudizhu.features import move_columns
from suphx.games.doudizhu.moves import load_moves
from suphx.games.doudizhu.selfplay import DouDizhuTables, play_to_end
from suphx.games.doudizhu.table import Rules
from suphx.games.registry import candidate_game
from suphx.training import value_nets
from suphx.training.config import MonteCarloConfig
from suphx.training.monte_carlo import RoundLearner, RoundPlayer, rate_of_round
from suphx.training.value_nets import PlayedMoves, ValueNets, ValuePlayer, load_value_nets, new_nets, save_value_nets

GAME = candidate_game("doudizhu")
CONFIG = MonteCarloConfig(games=2, batches=1, average_rounds=3, precision="fp32", threads=1)


def learn(learner: RoundLearner, config: MonteCarloConfig, count: int) -> list[dict[str, F32]]:
    """Learn from ``count`` rounds that the nets play; return the weights after each."""
    player = RoundPlayer(config, GAME, Rules(), learner.nets, is_bf16=False)
    after = []
    for _ in range(count):
        learner.learn(player.play(learner.num_rounds))
        after.append(learner.weights())
    return after


def averaged(learner: RoundLearner) -> dict[str, F32]:
    return {name: tensor.numpy() for name, tensor in learner.averaged_nets().state_dict().items()}


def assert_equal(found: dict[str, F32], expected: dict[str, F32]) -> None:
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, atol=1e-6)


def test_averaged_weights_are_the_mean_of_the_first_rounds_then_move_by_a_fixed_share() -> None:
    learner = RoundLearner(CONFIG, GAME)
    first = learn(learner, CONFIG, 3)
    mean = {name: np.mean([weights[name] for weights in first], axis=0) for name in first[0]}
    assert any(np.abs(mean[name] - first[-1][name]).max() > 1e-4 for name in mean)
    assert_equal(averaged(learner), mean)
    (newest,) = learn(learner, CONFIG, 1)
    assert_equal(averaged(learner), {name: mean[name] + (newest[name] - mean[name]) / 3 for name in mean})
    assert_equal(learner.weights(), newest)


def test_before_the_first_round_and_without_averages_they_are_the_weights() -> None:
    learner = RoundLearner(CONFIG, GAME)
    assert_equal(averaged(learner), learner.weights())
    plain = RoundLearner(replace(CONFIG, average_rounds=0), GAME)
    (newest,) = learn(plain, CONFIG, 1)
    assert_equal(averaged(plain), newest)


def test_the_learning_rate_falls_linearly_and_stays() -> None:
    config = replace(CONFIG, learning_rate=1e-3, decay_rounds=4, last_rate_share=0.2)
    rates = [rate_of_round(config, number) for number in (0, 1, 2, 4, 5, 100)]
    assert rates == pytest.approx([1e-3, 8e-4, 6e-4, 2e-4, 2e-4, 2e-4])
    assert rate_of_round(replace(config, decay_rounds=0), 100) == 1e-3


def test_rounds_are_learned_at_their_rate_also_after_a_resume() -> None:
    config = replace(CONFIG, decay_rounds=2, last_rate_share=0.5)
    learner = RoundLearner(config, GAME)
    learn(learner, config, 2)
    assert learner.optimizer.param_groups[0]["lr"] == pytest.approx(0.75 * config.learning_rate)  # of the second round
    resumed = RoundLearner(config, GAME)
    resumed.restore(learner.state(), learner.num_rounds)
    (after,) = learn(resumed, config, 1)
    assert resumed.optimizer.param_groups[0]["lr"] == pytest.approx(0.5 * config.learning_rate)
    (expected,) = learn(learner, config, 1)
    assert all(np.array_equal(after[name], expected[name]) for name in expected)


def test_averages_do_not_change_what_is_learned() -> None:
    with_averages, without = (RoundLearner(replace(CONFIG, average_rounds=rounds), GAME) for rounds in (3, 0))
    for one, other in zip(learn(with_averages, CONFIG, 2), learn(without, CONFIG, 2), strict=True):
        assert all(np.array_equal(one[name], other[name]) for name in one)


def test_averages_are_part_of_the_state() -> None:
    whole, first = (RoundLearner(CONFIG, GAME) for _ in range(2))
    learn(whole, CONFIG, 4)
    learn(first, CONFIG, 2)
    resumed = RoundLearner(CONFIG, GAME)
    resumed.restore(first.state(), first.num_rounds)
    learn(resumed, CONFIG, 2)
    expected = averaged(whole)
    assert all(np.array_equal(array, expected[name]) for name, array in averaged(resumed).items())


@pytest.mark.parametrize(("before", "after"), [(3, 0), (0, 3)])
def test_a_training_may_resume_with_averages_or_without(before: int, after: int) -> None:
    first = RoundLearner(replace(CONFIG, average_rounds=before), GAME)
    learn(first, CONFIG, 2)
    resumed = RoundLearner(replace(CONFIG, average_rounds=after), GAME)
    resumed.restore(first.state(), first.num_rounds)
    assert_equal(averaged(resumed), first.weights())
    assert not [name for name in resumed.tensors() if name.endswith(".average")]
    learn(resumed, CONFIG, 1)
    assert bool([name for name in resumed.tensors() if name.endswith(".average")]) == bool(after)


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
    with pytest.raises(ValueError, match=r"it is a landlord_down net, this run needs a landlord_up net"):
        load_value_nets(tmp_path)
    up.write_bytes(own)
    other = tmp_path / "other"
    other.mkdir()
    save_value_nets(other, trained(Rules(scoring="points")))
    (other / up.name).write_bytes(own)
    with pytest.raises(ValueError, match="learned different rules"):
        load_value_nets(other)
    up.unlink()
    with pytest.raises(ValueError, match="has no checkpoint of the landlord_up net"):
        load_value_nets(tmp_path)


COLUMNS = move_columns(load_moves())


@pytest.fixture(scope="module")
def nets() -> nn.ModuleList:
    return new_nets(GAME, 1).eval()


def dealt(num_tables: int) -> DouDizhuTables:
    simulator = DouDizhuTables(num_tables, Rules())
    simulator.reset(range(num_tables))
    return simulator


def test_the_same_seed_gives_the_same_nets_and_leaves_torch_alone(nets: nn.ModuleList) -> None:
    state = torch.random.get_rng_state()
    again = new_nets(GAME, 1)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(torch.equal(a, b) for a, b in zip(nets.parameters(), again.parameters(), strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(nets.parameters(), new_nets(GAME, 2).parameters(), strict=True))


def test_each_move_has_the_highest_value_of_its_table(nets: nn.ModuleList, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_nets, "_MAX_CANDIDATES", 100)  # several parts
    columns = torch.from_numpy(COLUMNS)
    seen_counts: list[int] = []

    class CheckedPlayer(ValuePlayer):
        def choose(self, simulator: DouDizhuTables, seen: SeatObservations) -> np.ndarray:
            chosen = super().choose(simulator, seen)
            for i, (a, b) in enumerate(zip(seen.offsets[:-1], seen.offsets[1:], strict=True)):
                rows = torch.zeros(b - a, dtype=torch.int64)
                state, history = (torch.from_numpy(x[i : i + 1]) for x in (seen.states, seen.history))
                with torch.no_grad():
                    values = nets[seen.seat](state, history, columns[seen.moves[a:b].astype(np.int64)], rows)
                assert values[chosen[i] - a] >= values.max() - 1e-5
                seen_counts.append(int(b - a))
            return chosen

    play_to_end(dealt(2), CheckedPlayer(nets, COLUMNS))
    assert min(seen_counts) == 1
    assert max(seen_counts) > 20


def test_all_moves_are_written_down_in_the_order_of_the_game(nets: nn.ModuleList) -> None:
    played: list[PlayedMoves] = []
    simulator = dealt(3)
    play_to_end(simulator, ValuePlayer(nets, COLUMNS, played=played))
    for number, table in enumerate(simulator.tables):
        moves = [int(m) for part in played for m in part.moves[part.tables == number]]
        assert moves == table["moves"][: table["num_moves"]].tolist()


def test_with_epsilon_moves_are_random_and_without_it_they_are_not(nets: nn.ModuleList) -> None:
    simulator = dealt(60)
    (seen,) = simulator.observe(np.arange(60))
    greedy = ValuePlayer(nets, COLUMNS).choose(simulator, seen)
    assert (ValuePlayer(nets, COLUMNS).choose(simulator, seen) == greedy).all()
    curious = ValuePlayer(nets, COLUMNS, 0.5, np.random.default_rng(4)).choose(simulator, seen)
    assert 15 < (curious != greedy).sum() < 45
    assert ((seen.offsets[:-1] <= curious) & (curious < seen.offsets[1:])).all()


def test_nets_do_not_play_by_rules_with_other_moves_than_they_learned(nets: nn.ModuleList) -> None:
    player, rules = ValuePlayer(nets, COLUMNS), Rules(douzero_kickers=True)
    simulator = DouDizhuTables(2, rules)
    simulator.reset(range(2))
    (seen,) = simulator.observe(np.arange(2))
    count = simulator.moves.num_moves
    message = f"learned rules with 27,472 moves, but the game is played by rules with {count:,}: use nets that learned"
    with pytest.raises(ValueError, match=message):
        player.choose(simulator, seen)
    with pytest.raises(ValueError, match=message):
        player.values(seen)
    with pytest.raises(ValueError, match=message):
        play_to_end(simulator, player)
