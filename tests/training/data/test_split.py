from __future__ import annotations

import numpy as np
import pytest

from suphx.training.data.split import KyokuSplit, SplitConfig, first_games, split_by_game


def ids(num_games: int) -> list[str]:
    return [f"2022051{number % 10}-{number:08x}" for number in range(num_games)]


def split(num_games: int, config: SplitConfig | None = None) -> tuple[KyokuSplit, np.ndarray]:
    game_of_kyoku = np.repeat(np.arange(num_games), 10)
    return split_by_game(ids(num_games), game_of_kyoku, config or SplitConfig()), game_of_kyoku


def test_every_kyoku_is_on_one_side_and_no_game_on_two() -> None:
    sides, game_of_kyoku = split(1000)
    parts = (sides.train, sides.validation, sides.test)
    assert sorted(np.concatenate(parts).tolist()) == list(range(10_000))
    games = [set(game_of_kyoku[part].tolist()) for part in parts]
    assert sum(map(len, games)) == len(set.union(*games)) == 1000


def test_the_shares_are_about_those_asked_for() -> None:
    sides, _ = split(5000, SplitConfig(validation_fraction=0.1, test_fraction=0.2))
    assert len(sides.validation) / 50_000 == pytest.approx(0.1, abs=0.015)
    assert len(sides.test) / 50_000 == pytest.approx(0.2, abs=0.015)


def test_a_game_stays_on_its_side_when_more_games_come() -> None:
    few, many = split(500)[0], split(900)[0]
    assert set(few.test.tolist()) == {k for k in many.test.tolist() if k < 5000}
    assert set(few.train.tolist()) == {k for k in many.train.tolist() if k < 5000}


@pytest.mark.parametrize("name", ["", "game", "x6"])
def test_games_of_one_name_are_on_all_sides(name: str) -> None:
    config = SplitConfig(validation_fraction=0.1, test_fraction=0.2)
    sides = split_by_game([name] * 2000, np.arange(2000), config)
    assert len(sides.validation) / 2000 == pytest.approx(0.1, abs=0.03)
    assert len(sides.test) / 2000 == pytest.approx(0.2, abs=0.03)


@pytest.mark.parametrize("num_games", [3, 4, 10])
def test_a_few_games_are_enough_for_three_sides(num_games: int) -> None:
    sides, _ = split(num_games)
    assert len(sides.train) > 0
    assert len(sides.validation) > 0
    assert len(sides.test) > 0


def test_three_games_of_any_ids_are_one_for_each_side() -> None:
    config = SplitConfig(validation_fraction=0.3, test_fraction=0.2)
    for number in range(200):
        sides = split_by_game([f"{number}-{game}" for game in range(3)], np.arange(3), config)
        assert [len(sides.train), len(sides.validation), len(sides.test)] == [1, 1, 1]


def test_fewer_games_are_whole_and_part_of_more() -> None:
    sides, game_of_kyoku = split(300)
    parts = [first_games(sides.train, game_of_kyoku, ids(300), count) for count in (20, 100)]
    assert [len(np.unique(game_of_kyoku[part])) for part in parts] == [20, 100]
    assert [len(part) for part in parts] == [200, 1000]
    assert set(parts[0].tolist()) < set(parts[1].tolist()) < set(sides.train.tolist())


@pytest.mark.parametrize("count", [0, 301])
def test_games_that_are_not_there_are_refused(count: int) -> None:
    sides, game_of_kyoku = split(300)
    with pytest.raises(ValueError, match=f"{count} training games are asked for, but there are"):
        first_games(sides.train, game_of_kyoku, ids(300), count)


def test_two_games_are_refused() -> None:
    with pytest.raises(ValueError, match="2 games cannot be split"):
        split(2)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"test_fraction": 0.0}, "test_fraction is 0.0"),
        ({"validation_fraction": 1.5}, "validation_fraction is 1.5"),
        ({"validation_fraction": 0.5, "test_fraction": 0.5}, "leave games for training"),
        ({"max_test_samples": 0}, "max_test_samples is 0: use at least 1"),
    ],
)
def test_a_wrong_config_is_refused(fields: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SplitConfig(**fields)  # type: ignore[arg-type]
