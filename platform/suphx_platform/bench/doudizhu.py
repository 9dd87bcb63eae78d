"""How many random games of DouDizhu a second one core plays, how many decisions of nets, and how peers compare."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any, Protocol

import numpy as np
import torch

from suphx.games.doudizhu.bots import play_scripted
from suphx.games.doudizhu.selfplay import DouDizhuTables
from suphx.games.doudizhu.table import TABLE, Rules
from suphx.games.registry import candidate_game
from suphx.models.device import torch_threads
from suphx.training.value_nets import ValueNets, new_nets
from suphx_platform.bench.timing import compare_rates

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


_GAMES_A_CALL = 1_000
_OURS = "ours"


def bench_doudizhu(
    *, num_tables: int | None, seed: int, peers: Sequence[str], seconds: float, say: Callable[[str], None]
) -> dict[str, object]:
    """Return the JSON object of ``suphx bench simulator --game doudizhu``; what was not measured is null.

    All play on one thread, and take turns. Random games: cards dealt, legal moves listed, one of them played at random.
    ``nets``, measured only with ``num_tables``: decisions of three nets with their first weights, which give each legal
    move a value; ours play ``num_tables`` games side by side, in bf16 if the CPU has it. ValueError for a peer that is
    not installed.
    """
    others: list[Peer] = [PEERS[name]() for name in peers]
    with torch_threads(1):
        say("compiling or loading kernels")
        games = {_OURS: _random_games(seed), **{other.name: other.random_games(seed) for other in others}}
        rates = _rates(games, seconds, say, "playing random games")
        nets = None if num_tables is None else _bench_nets(num_tables, seed, others, seconds, say)
    decisions_each = float(play_scripted(_GAMES_A_CALL, Rules(), seed=seed).decisions.mean())
    return {
        "game": "doudizhu",
        "games_per_second": rates[_OURS],
        "decisions_per_second": rates[_OURS] * decisions_each,
        "decisions_per_game": decisions_each,
        "bytes_per_table": TABLE.itemsize,
        "seed": seed,
        "peers": {other.name: {"version": other.version, "games_per_second": rates[other.name]} for other in others},
        "ratios": {other.name: rates[_OURS] / rates[other.name] for other in others},
        "nets": nets,
    }


def _bench_nets(
    num_tables: int, seed: int, others: Sequence[Peer], seconds: float, say: Callable[[str], None]
) -> dict[str, object]:
    """Return the decisions of nets per second; a peer without nets of this size is left out."""
    calls = {_OURS: _net_decisions(num_tables, seed)}
    for other in others:
        if (call := other.net_decisions(seed)) is not None:
            calls[other.name] = call
    rates = _rates(calls, seconds, say, f"playing games of nets, {num_tables:,} at a time")
    ours = rates.pop(_OURS)
    return {
        "decisions_per_second": ours,
        "tables": num_tables,
        "peers": {name: {"decisions_per_second": rate} for name, rate in rates.items()},
        "ratios": {name: ours / rate for name, rate in rates.items()},
    }


def _rates(
    calls: dict[str, Callable[[], int]], seconds: float, say: Callable[[str], None], doing: str
) -> dict[str, float]:
    for warm_up in calls.values():
        warm_up()
    say(doing)
    return compare_rates(calls, seconds=seconds)


def _random_games(seed: int) -> Callable[[], int]:
    def play() -> int:
        play_scripted(_GAMES_A_CALL, Rules(), seed=seed)
        return _GAMES_A_CALL

    return play


def _net_decisions(num_tables: int, seed: int) -> Callable[[], int]:
    """Return a call that plays games of nets and returns the number of moves."""
    tables, everything = DouDizhuTables(num_tables, Rules()), np.arange(num_tables)
    game = candidate_game("doudizhu")
    agent = ValueNets(game, Rules(), new_nets(game, seed)).player()

    def play() -> int:
        tables.begin(everything, range(seed, seed + num_tables))
        while (waiting := tables.waiting()).size:
            tables.advance(waiting, agent.act(tables, waiting))
        return int(tables.tables["num_moves"].sum())

    return play
