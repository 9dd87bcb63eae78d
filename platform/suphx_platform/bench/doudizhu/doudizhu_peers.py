"""Other people's DouDizhu, as packages on PyPI (the extra ``peers``): imported only when they are measured."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, Protocol

import numpy as np
import torch

_STEPS_A_CALL = 20
_DECK = sorted([rank for rank in (*range(3, 15), 17) for _ in range(4)] + [20, 30])
"""Cards as DouZero numbers them: 3 to 14, 17 = a two, 20 and 30 = the jokers."""


class Peer(Protocol):
    """Another implementation."""

    name: str
    version: str

    def random_games(self, seed: int) -> Callable[[], int]:
        """Return a call that plays a random game and returns 1."""
        ...

    def net_decisions(self, seed: int) -> Callable[[], int] | None:
        """Return a call that plays moves of nets and returns their number; None if it has no nets."""
        ...


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ValueError(f"{package} is not installed: run pip install {package}, or leave it out of --peer") from error


class DouZeroPeer:
    """PyPI ``douzero``: its game, and the loop of its actors with its nets, which have as many weights as ours."""

    name = "douzero"

    def __init__(self) -> None:
        self._game = _import("douzero.env.game")
        self._agent = _import("douzero.evaluation.random_agent")
        self.version = version("douzero")

    def random_games(self, seed: int) -> Callable[[], int]:
        """Return a call that plays a game of its random agents."""
        names = ("landlord", "landlord_up", "landlord_down")
        shuffle = random.Random(seed).shuffle

        def play() -> int:
            deck = list(_DECK)
            shuffle(deck)
            game = self._game.GameEnv({name: self._agent.RandomAgent() for name in names})
            hands = {"landlord": deck[:20], "landlord_up": deck[20:37], "landlord_down": deck[37:]}
            sorted_hands = {name: sorted(hand) for name, hand in hands.items()}
            game.card_play_init({**sorted_hands, "three_landlord_cards": sorted(deck[17:20])})
            while not game.game_over:
                game.step()
            return 1

        return play

    def net_decisions(self, seed: int) -> Callable[[], int]:
        """Return a call that plays some moves as its actors do: one table, the nets asked move by move."""
        np.random.seed(seed)  # its decks come from numpy's own state
        model = _import("douzero.dmc.models").Model("cpu")
        model.eval()
        env = _import("douzero.dmc.env_utils").Environment(_import("douzero.env").Env("wp"), "cpu")
        state = env.initial()[:2]

        def play() -> int:
            nonlocal state
            for _ in range(_STEPS_A_CALL):
                position, seen = state
                with torch.no_grad():
                    chosen = model.forward(position, seen["z_batch"], seen["x_batch"])["action"]
                state = env.step(seen["legal_actions"][int(chosen)])[:2]
            return _STEPS_A_CALL

        return play


class RlCardPeer:
    """PyPI ``rlcard``: its game, without its environment, which encodes what a net would see at every move."""

    name = "rlcard"

    def __init__(self) -> None:
        self._game = _import("rlcard.games.doudizhu")
        self.version = version("rlcard")

    def random_games(self, seed: int) -> Callable[[], int]:
        """Return a call that plays a game in which one of the legal moves that it lists is played at random."""
        game = self._game.Game()
        game.np_random = np.random.RandomState(seed)
        choice = random.Random(seed).choice

        def play() -> int:
            state, _ = game.init_game()
            while not game.is_over():
                state, _ = game.step(choice(state["actions"]))
            return 1

        return play

    def net_decisions(self, seed: int) -> None:
        """It has no nets of DouZero's size."""


PEERS: dict[str, Callable[[], Peer]] = {"douzero": DouZeroPeer, "rlcard": RlCardPeer}
