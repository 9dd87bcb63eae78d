from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from suphx.experience.observation import F32
from suphx.games.doudizhu.features import encode_rows, move_columns
from suphx.games.doudizhu.selfplay import DouDizhuTables
from suphx.games.doudizhu.table import Rules
from suphx.games.registry import candidate_game
from suphx.models import inference
from suphx.training.config import MonteCarloConfig
from suphx.training.monte_carlo import RoundLearner, RoundPlayer, ValueSamples, rate_of_round
from suphx.training.value_nets import ValueNets, load_value_nets, new_nets, save_value_nets

GAME = candidate_game("doudizhu")
CONFIG = MonteCarloConfig(games=2, batches=1, average_rounds=3, precision="fp32", threads=1)


def learn(learner: RoundLearner, config: MonteCarloConfig, count: int) -> list[dict[str, F32]]:
    """Learn from ``count`` rounds that the nets play; return the weights after each."""
    player = RoundPlayer(config, GAME, Rules(), learner.nets)
    after = []
    for _ in range(count):
        learner.learn(player.play(learner.num_updates))
        after.append(newest(learner))
    return after


def newest(learner: RoundLearner) -> dict[str, F32]:
    return {f"{kind}.{name}": own for kind, net in learner.weights().items() for name, own in net.items()}


def averaged(learner: RoundLearner) -> dict[str, F32]:
    return {f"{kind}.{name}": own for kind, net in learner.match_weights().items() for name, own in net.items()}


def assert_equal(found: dict[str, F32], expected: dict[str, F32]) -> None:
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, atol=1e-6)


def test_averaged_weights_are_the_mean_of_the_first_rounds_then_move_by_a_fixed_share() -> None:
    learner = RoundLearner(CONFIG, GAME.name)
    first = learn(learner, CONFIG, 3)
    mean = {name: np.mean([weights[name] for weights in first], axis=0) for name in first[0]}
    assert any(np.abs(mean[name] - first[-1][name]).max() > 1e-4 for name in mean)
    assert_equal(averaged(learner), mean)
    (fourth,) = learn(learner, CONFIG, 1)
    assert_equal(averaged(learner), {name: mean[name] + (fourth[name] - mean[name]) / 3 for name in mean})
    assert_equal(newest(learner), fourth)


def test_before_the_first_round_and_without_averages_they_are_the_weights() -> None:
    learner = RoundLearner(CONFIG, GAME.name)
    assert_equal(averaged(learner), newest(learner))
    plain = RoundLearner(replace(CONFIG, average_rounds=0), GAME.name)
    (first,) = learn(plain, CONFIG, 1)
    assert_equal(averaged(plain), first)


def test_the_learning_rate_falls_linearly_and_stays() -> None:
    config = replace(CONFIG, learning_rate=1e-3, decay_rounds=4, last_rate_share=0.2)
    rates = [rate_of_round(config, number) for number in (0, 1, 2, 4, 5, 100)]
    assert rates == pytest.approx([1e-3, 8e-4, 6e-4, 2e-4, 2e-4, 2e-4])
    assert rate_of_round(replace(config, decay_rounds=0), 100) == 1e-3


def test_rounds_are_learned_at_their_rate_also_after_a_resume() -> None:
    config = replace(CONFIG, decay_rounds=2, last_rate_share=0.5)
    learner = RoundLearner(config, GAME.name)
    learn(learner, config, 2)
    assert learner.optimizer.param_groups[0]["lr"] == pytest.approx(0.75 * config.learning_rate)  # of the second round
    resumed = RoundLearner(config, GAME.name)
    resumed.restore(*learner.state())
    (after,) = learn(resumed, config, 1)
    assert resumed.optimizer.param_groups[0]["lr"] == pytest.approx(0.5 * config.learning_rate)
    (expected,) = learn(learner, config, 1)
    assert all(np.array_equal(after[name], expected[name]) for name in expected)


@pytest.mark.parametrize(("before", "after"), [(3, 0), (0, 3)])
def test_a_training_may_resume_with_averages_or_without(before: int, after: int) -> None:
    first = RoundLearner(replace(CONFIG, average_rounds=before), GAME.name)
    learn(first, CONFIG, 2)
    resumed = RoundLearner(replace(CONFIG, average_rounds=after), GAME.name)
    resumed.restore(*first.state())
    assert_equal(averaged(resumed), newest(first))
    assert not [name for name in resumed.state()[0] if name.endswith(".average")]
    learn(resumed, CONFIG, 1)
    assert bool([name for name in resumed.state()[0] if name.endswith(".average")]) == bool(after)


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


@pytest.fixture(scope="module")
def nets() -> nn.ModuleList:
    return new_nets(GAME, 1).eval()


def dealt(num_tables: int, rules: Rules | None = None) -> DouDizhuTables:
    tables = DouDizhuTables(num_tables, rules or Rules())
    tables.begin(np.arange(num_tables), range(num_tables))
    return tables


def test_the_same_seed_gives_the_same_nets_and_leaves_torch_alone(nets: nn.ModuleList) -> None:
    state = torch.random.get_rng_state()
    again = new_nets(GAME, 1)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(torch.equal(a, b) for a, b in zip(nets.parameters(), again.parameters(), strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(nets.parameters(), new_nets(GAME, 2).parameters(), strict=True))


def test_each_move_has_the_highest_value_of_its_table(nets: nn.ModuleList, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference, "_MOST_CANDIDATES", 100)  # several parts
    player, columns = ValueNets(GAME, Rules(), nets).player("fp32"), move_columns(Rules().load_moves())
    tables, counts = dealt(2), list[int]()
    while (waiting := tables.waiting()).size:
        offsets, legal = tables.legal(waiting)
        values, moves = player.candidate_values(tables, waiting), player.act(tables, waiting)
        for row, (first, end) in enumerate(pairwise(offsets.tolist())):
            seat = int(tables.actors(waiting)[row])
            rows = torch.from_numpy(encode_rows(tables.tables, tables.moves, waiting[[row]], seat))
            candidates, own = torch.from_numpy(columns[legal[first:end]]), values[first:end]
            with torch.no_grad():
                expected = nets[seat](rows, candidates, torch.zeros(end - first, dtype=torch.int64)).numpy()
            if end - first > 1:
                np.testing.assert_allclose(own, expected, atol=1e-5)
                assert moves[row] == legal[first + own.argmax()]
            else:
                assert np.isnan(own).all()
            counts.append(end - first)
        tables.advance(waiting, moves)
    assert min(counts) == 1
    assert max(counts) > 20


def test_without_epsilon_a_round_is_the_games_of_the_agent_and_with_it_others(nets: nn.ModuleList) -> None:
    config = replace(CONFIG, games=30, epsilon=0.0)
    samples, again = (RoundPlayer(config, GAME, Rules(), nets).play(0) for _ in range(2))
    tables, player = DouDizhuTables(30, Rules()), ValueNets(GAME, Rules(), nets).player("fp32")
    tables.begin(np.arange(30), range(first := 2**40 * (1 + config.seed), first + 30))
    while (waiting := tables.waiting()).size:
        tables.advance(waiting, player.act(tables, waiting))
    assert sum(map(len, samples)) == tables.tables["num_moves"].sum()
    for own, other in zip(samples, again, strict=True):
        assert isinstance(own, ValueSamples)
        assert isinstance(other, ValueSamples)
        assert (own.rows == other.rows).all()
        assert set(own.returns.tolist()) == {-1, 1}
    curious = RoundPlayer(replace(config, epsilon=0.5), GAME, Rules(), nets).play(0)
    assert any(len(own) != len(other) for own, other in zip(samples, curious, strict=True))


def test_nets_do_not_play_by_rules_with_other_moves_than_they_learned(nets: nn.ModuleList) -> None:
    player, tables = ValueNets(GAME, Rules(), nets).player(), dealt(2, Rules(douzero_kickers=True))
    count = tables.num_moves
    message = f"learned rules with 27,472 moves, but the game is played by rules with {count:,}: use nets that learned"
    for ask in (player.act, player.candidate_values):
        with pytest.raises(ValueError, match=message):
            ask(tables, np.arange(2))
