"""Whole games by this engine and by PyPI ``riichienv`` on the same walls with the same actions: nothing differs.

What is compared stands in peer_game.py; the accepted divergences stand in peer_divergence.py and in docs/rules.md.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from riichienv import GameRule

from suphx.games.mahjong.shanten import load_suits
from suphx.games.riichi.bots import choose_ukeire
from suphx.games.riichi.rules import Rules, mahjong_soul, tenhou, tonpuu
from tests.games.riichi.builders.games import choose_hastily
from tests.games.riichi.builders.scripted_deal import SCRIPTED_DEALS
from tests.games.riichi.builders.staged_wall import staged_start, staged_wall
from tests.games.riichi.peers.peer_game import DifferenceError, PeerGame, Play


def peer_mahjong_soul() -> GameRule:
    """Return Mahjong Soul's rules; how the dealer's first discard is written down is no rule."""
    rules = GameRule.default_mjsoul()
    rules.dealer_first_discard_is_tedashi = False
    return rules


ROOMS: tuple[tuple[Rules, GameRule], ...] = (
    (tenhou(), GameRule.default_tenhou()),
    (tonpuu(), GameRule.default_tenhou()),
    (mahjong_soul(), peer_mahjong_soul()),
)
LAST_DEAL = {"kyoku": 8, "honba": 2, "sticks": 1, "scores": [25_000, 25_000, 25_000, 24_000]}
SUITS = load_suits()

SITUATIONS = {
    "tsumo", "ron", "double ron", "triple ron", "four kans", "four riichi", "nine terminals", "exhaustive draw",
    "double riichi", "ippatsu", "ura dora", "ron of a riichi discard", "closed kan after riichi", "rinshan kaihou",
    "kuikae forbids a tile of the hand", "win with honba", "several yakuman", "game ended below zero",
    "deal of the extra wind", "game ended in the extra wind", "places of equal scores",
}  # fmt: skip
# Rarer ones (robbed kans, pao, four winds, nagashi …) are scripted.
RARE_SITUATIONS = {"haitei", "houtei", "furiten by a missed win, this turn", "draw with 4 tenpai"}


def play_at_random(t: Any, rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(t["legal"])))


def play_for_ukeire(t: Any, rng: np.random.Generator) -> int:
    return int(choose_ukeire(t, SUITS))


def play_whole_games(seeds: range, play: Play) -> Counter[str]:
    """Play games from East 1 on, with honest walls; return what happened."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        rules, peer_rules = ROOMS[seed % len(ROOMS)]
        game = PeerGame(rules, peer_rules, seed=seed, play=play)
        game.play()
        seen += game.seen
    return seen


def play_scripted_deal(name: str, rules: Rules, peer_rules: GameRule) -> Counter[str]:
    deal = replace(SCRIPTED_DEALS[name])
    game = PeerGame(rules, peer_rules, seed=1, play=deal.play, make_wall=deal.wall, start=LAST_DEAL)
    game.play()
    return game.seen


def play_fickly(t: Any, rng: np.random.Generator) -> int:
    """Play hastily, but let every third chance go: missed wins, passes, odd calls and discards."""
    return play_at_random(t, rng) if rng.random() < 0.3 else choose_hastily(t, rng)


def play_staged_games(seeds: range) -> Counter[str]:
    """Play the last deals of games with staged scores and walls; return what happened."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        rng = np.random.default_rng(seed)
        rules, peer_rules = ROOMS[seed % len(ROOMS)]
        play: Play = (choose_hastily, play_fickly, play_at_random)[rng.choice(3, p=[0.45, 0.45, 0.1])]
        start = staged_start(rules, rng)
        game = PeerGame(rules, peer_rules, seed=seed, play=play, make_wall=staged_wall, start=start)
        game.play()
        seen += game.seen
    return seen


@pytest.mark.parametrize("play", [play_at_random, choose_hastily, play_for_ukeire])
def test_games(play: Play) -> None:
    assert play_whole_games(range(3), play)["game"] == 3


def test_staged_games() -> None:
    assert play_staged_games(range(30))["game"] == 30


@pytest.mark.slow
@pytest.mark.parametrize(
    ("play", "num_games"), [(play_at_random, 200), (choose_hastily, 1000), (play_for_ukeire, 1000)]
)
def test_many_games(play: Play, num_games: int) -> None:
    assert play_whole_games(range(1000, 1000 + num_games), play)["game"] == num_games


@pytest.mark.slow
def test_200_staged_games_full_of_rare_things() -> None:
    seen = play_staged_games(range(200))
    assert seen["game"] == 200
    assert SITUATIONS - seen.keys() == set()


@pytest.mark.slow
def test_4000_staged_games() -> None:
    seen = play_staged_games(range(10_000, 14_000))
    assert (SITUATIONS | RARE_SITUATIONS) - seen.keys() == set()


@pytest.mark.parametrize("name", list(SCRIPTED_DEALS))
@pytest.mark.parametrize("room", [0, pytest.param(2, marks=pytest.mark.slow)], ids=["tenhou", "mahjong soul"])
def test_scripted_deal(room: int, name: str) -> None:
    seen = play_scripted_deal(name, *ROOMS[room])
    assert seen[SCRIPTED_DEALS[name].happens], dict(seen)


def test_a_rule_that_differs_is_noticed_in_the_actions() -> None:
    with pytest.raises(DifferenceError, match="actions of seat 0"):
        PeerGame(Rules(open_tanyao=False), GameRule.default_tenhou(), seed=27, play=choose_hastily).play()


def test_a_rule_that_differs_is_noticed_in_the_wins() -> None:
    with pytest.raises(DifferenceError, match="wins"):
        play_scripted_deal("four kans of one seat", tenhou(), GameRule.default_mjsoul())
