from __future__ import annotations

import numpy as np
import pytest

from suphx.games.riichi.features.game_progress import NUM_GAME_PROGRESS_INPUTS, GameProgress, encode_game_progress


def progress(count: int, seed: int = 0) -> GameProgress:
    rng = np.random.default_rng(seed)
    moved = rng.integers(-80, 81, size=(count, 4)) * 100
    return GameProgress(
        round_scores=moved.astype(np.int32),
        scores=(25_000 + 3 * moved).astype(np.int32),
        kyoku=rng.integers(0, 12, size=count).astype(np.int32),
        honba=rng.integers(0, 4, size=count).astype(np.int32),
        kyotaku=rng.integers(0, 3, size=count).astype(np.int32),
        is_over=rng.random(count) < 0.2,
    )


def line_twin(given: GameProgress, n: int, seat: int) -> list[float]:
    seats = [(seat + i) % 4 for i in range(4)]
    goes_on = not given.is_over[n]
    kyoku = int(given.kyoku[n])
    return [
        *(given.round_scores[n, s] / 10_000 for s in seats),
        *((given.scores[n, s] - 25_000) / 10_000 for s in seats),
        *(float(goes_on and kyoku % 4 == s) for s in seats),
        given.honba[n] / 4 if goes_on else 0.0,
        given.kyotaku[n] / 4 if goes_on else 0.0,
        *(float(goes_on and kyoku == k) for k in range(12)),
        float(not goes_on),
    ]


def test_each_seat_sees_itself_first() -> None:
    given = progress(40)
    lines = encode_game_progress(given)
    assert lines.shape == (40, 4, NUM_GAME_PROGRESS_INPUTS)
    expected = [[line_twin(given, n, seat) for seat in range(4)] for n in range(40)]
    np.testing.assert_allclose(lines, expected, rtol=1e-6)


@pytest.mark.parametrize("turn", [1, 2, 3])
def test_a_table_that_is_turned_looks_the_same_to_whoever_sits_there(turn: int) -> None:
    given = progress(40)
    turned = GameProgress(
        round_scores=np.roll(given.round_scores, turn, axis=1),
        scores=np.roll(given.scores, turn, axis=1),
        kyoku=given.kyoku,
        honba=given.honba,
        kyotaku=given.kyotaku,
        is_over=given.is_over,
    )
    dealer = slice(8, 12)  # the kyoku says which seat deals, whatever the seats are called
    lines, other = encode_game_progress(given), encode_game_progress(turned)
    lines[:, :, dealer] = other[:, :, dealer] = 0
    np.testing.assert_array_equal(np.roll(lines, turn, axis=1), other)


def test_lines_are_taken_in_any_order() -> None:
    given = progress(5)
    assert len(given.take(np.array([3, 1]))) == 2
    np.testing.assert_array_equal(
        encode_game_progress(given)[[3, 1]], encode_game_progress(given.take(np.array([3, 1])))
    )
