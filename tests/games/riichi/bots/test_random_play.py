from __future__ import annotations

import pytest

from suphx.games.riichi.bots.random_play import GAMES_A_CALL, play_random
from suphx.games.riichi.table.rules import tenhou, tonpuu


def test_games_do_not_depend_on_threads_or_on_their_neighbours() -> None:
    count = GAMES_A_CALL + 3
    one = play_random(count, tenhou(), seed=9)
    two = play_random(count, tenhou(), seed=9, num_threads=2)
    assert one.decisions.tolist() == two.decisions.tolist()
    assert one.kyokus.tolist() == two.kyokus.tolist()
    later = play_random(3, tenhou(), seed=9 + GAMES_A_CALL)
    assert later.decisions.tolist() == one.decisions[GAMES_A_CALL:].tolist()


def test_games_differ_and_have_plausible_lengths() -> None:
    play = play_random(16, tenhou(), seed=0)
    assert len(set(play.decisions.tolist())) > 8
    assert 300 < play.decisions.mean() < 3000
    assert play_random(16, tonpuu(), seed=0).kyokus.mean() < play.kyokus.mean()


@pytest.mark.parametrize(
    ("hanchans", "threads", "seed", "message"),
    [
        (0, 1, 0, "0 hanchans on 1 threads"),
        (1, 0, 0, "1 hanchans on 0 threads"),
        (2, 1, -1, "seed is -1"),
        (2, 1, 2**62, "seed is"),
    ],
)
def test_wrong_arguments_are_refused(hanchans: int, threads: int, seed: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        play_random(hanchans, tenhou(), seed=seed, num_threads=threads)
