"""A game of PyPI ``douzero``'s own environment, in which all moves are ours."""

from __future__ import annotations

from typing import Any

from douzero.env.env import get_obs
from douzero.env.game import GameEnv

from suphx.games.doudizhu.engine.table import SEAT_NAMES
from suphx.kernel.record import Records
from tests.games.doudizhu.peers.douzero_cards import cards_list


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
