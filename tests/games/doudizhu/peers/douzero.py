"""PyPI ``douzero``'s own trainer on CPU cores for a given time: ``python -m … FOLDER SECONDS ACTORS``.

The weights that its learner has when the time is over are ``FOLDER/<seat>.pt``; ``FOLDER/frames.txt`` is the number of
moves that it has learned from. All settings are its defaults, among them batches of 32 x 100 = 3,200 moves, with the
share of games won as the goal.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from douzero.dmc import dmc
from douzero.dmc.arguments import parser
from douzero.env.env import get_obs
from douzero.env.game import GameEnv
from torch import Tensor

from suphx.games.doudizhu.cards import counts_of
from suphx.games.doudizhu.table import SEAT_NAMES
from suphx.games.registry import candidate_game
from suphx.kernel.record import Records
from suphx.selfplay.agents.policy_set import PolicySet
from suphx.training.monte_carlo import new_nets

CARD_NUMBERS = (*range(3, 15), 17, 20, 30)


def cards_list(cards: int) -> list[int]:
    """Return packed cards as a sorted list."""
    counts = counts_of(np.array(cards)).tolist()
    return [number for number, count in zip(CARD_NUMBERS, counts, strict=True) for _ in range(count)]


def pack_list(cards: list[int]) -> int:
    """Return packed cards of a list in any order."""
    return sum(1 << 4 * CARD_NUMBERS.index(card) for card in cards)


class _Player:
    """Plays what it is told."""

    def __init__(self) -> None:
        self.move: list[int] = []

    def act(self, _: object) -> list[int]:
        return self.move


class DouZeroGame:
    """The game that begins with the hands of a TABLE record."""

    def __init__(self, table: Records) -> None:
        self._player = _Player()
        self.game: Any = GameEnv(dict.fromkeys(SEAT_NAMES, self._player))
        hands = {name: cards_list(hand) for name, hand in zip(SEAT_NAMES, table["hands"].tolist(), strict=True)}
        self.game.card_play_init({**hands, "three_landlord_cards": cards_list(int(table["bottom"]))})

    @property
    def infoset(self) -> Any:
        """What its agents see."""
        return self.game.game_infoset

    def observe(self) -> dict[str, Any]:
        """Return its observation of the player to move."""
        found: dict[str, Any] = get_obs(self.infoset)
        return found

    def play(self, cards: int) -> None:
        """Make a move, packed cards."""
        self._player.move = cards_list(cards)
        self.game.step()


_LAYERS = {"dense1": "first", **{f"dense{n + 2}": f"others.{n}" for n in range(4)}, "dense6": "output"}


def nets_of_douzero(weights: Mapping[str, Mapping[str, Tensor]]) -> PolicySet:
    """Return our nets with ``weights``: seat name -> state dict of a net of DouZero."""
    own = {seat: {_own_name(name): tensor.numpy() for name, tensor in weights[seat].items()} for seat in SEAT_NAMES}
    return new_nets(candidate_game("doudizhu"), 0).with_weights(own)


def _own_name(name: str) -> str:
    layer, _, rest = name.partition(".")
    return f"{_LAYERS.get(layer, layer)}.{rest}"


class _Recorder:
    """Knows the models that the trainer makes, the learner's last, and counts what it learns from."""

    def __init__(self) -> None:
        self.models: list[Any] = []
        self.frames = 0
        self.learns = threading.RLock()
        self._model, self._learn = dmc.Model, dmc.learn

    def new_model(self, device: Any = 0) -> Any:
        self.models.append(self._model(device=device))
        return self.models[-1]

    def learn(self, position: str, models: Any, model: Any, batch: Any, *rest: Any) -> Any:
        with self.learns:
            found = self._learn(position, models, model, batch, *rest)
            self.frames += batch["target"].numel()
        return found

    def save(self, folder: Path) -> None:
        with self.learns:
            for position, model in self.models[-1].get_models().items():
                torch.save(model.state_dict(), folder / f"{position}.pt")
            (folder / "frames.txt").write_text(str(self.frames))


def _end(recorder: _Recorder, folder: Path, seconds: float) -> None:
    """Save and end this process with its actors when the time is over: the trainer itself has no such limit."""
    time.sleep(seconds)
    recorder.save(folder)
    for actor in multiprocessing.active_children():
        actor.kill()
    os._exit(0)


def train(folder: Path, seconds: float, num_actors: int) -> None:
    """Train until this process ends itself."""
    folder.mkdir(parents=True, exist_ok=True)
    recorder = _Recorder()
    dmc.Model, dmc.learn = recorder.new_model, recorder.learn
    flags = ["--actor_device_cpu", "--training_device", "cpu", "--objective", "wp", "--disable_checkpoint"]
    arguments = parser.parse_args([*flags, "--num_actors", str(num_actors), "--savedir", str(folder / "log")])
    threading.Thread(target=_end, args=(recorder, folder, seconds), daemon=True).start()
    dmc.train(arguments)


if __name__ == "__main__":
    train(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
