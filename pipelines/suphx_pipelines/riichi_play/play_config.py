"""The settings of the games of one command, and the names of the seats."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from suphx.games.riichi import MAX_SEED as MAX_SEED
from suphx.games.riichi import Rules, tenhou

Length = Literal["hanchan", "tonpuu"]
WINDS: dict[Length, int] = {"tonpuu": 1, "hanchan": 2}
"""Planned rounds of a game."""
_MAX_NAME = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayConfig:
    """The settings of the games."""

    agent: str
    """Address of the agent, for the names of its seats."""
    name: str = "Player"
    """Of the person."""
    seed: int | None = None
    """Of the walls of the first game; later games have the numbers after it. None: other walls every time."""
    seat: int = 0
    """Of the person, 0-3; 0 is the first dealer."""
    length: Length = "hanchan"
    out: Path = Path("games")
    """Folder of the records of finished games, and of the moves of unfinished ones."""
    continues: bool = True
    """Go on with games of these settings that an earlier command did not finish."""

    def seed_of_game(self, game: int) -> int | None:
        """Return the seed of the walls of game number ``game`` (from 0 on); None if they are other walls every time."""
        return None if self.seed is None else (self.seed + game) % MAX_SEED

    def rules(self) -> Rules:
        """Return Tenhou's rules for this length."""
        return replace(tenhou(), num_winds=WINDS[self.length])


def seat_names(config: PlayConfig) -> tuple[str, str, str, str]:
    """Return the names by seat: the person, and the agent with a number; of a path only its last part."""
    short = config.agent.rstrip("/").split("/")[-1][:_MAX_NAME]
    names = [f"{short} {number}" for number in range(1, 4)]
    names.insert(config.seat, config.name)
    first, second, third, fourth = names
    return first, second, third, fourth
