"""The rules that may differ between rooms, as one frozen value; everything else is Tenhou's and stands in kyoku.py."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Four-player riichi as Tenhou plays it; ``tenhou()`` is the usual game."""

    num_winds: int = 2
    """Planned rounds: 1 = East only (tonpuu), 2 = East and South (hanchan)."""
    start_points: int = 25_000
    """Points of every seat at the start."""
    target_points: int = 30_000
    """After the planned rounds the game goes on, one wind at most, until a seat has this many."""
    open_tanyao: bool = True
    """All simples counts with an open hand (kuitan)."""
    tenpai_ends_game: bool = True
    """The last dealer ends the game as the leader also by being tenpai at a draw (Tenhou: not before June 2010)."""
    red_fives: bool = True
    """One red five each of 5m, 5p, 5s (tile ids 16, 52, 88)."""

    def __post_init__(self) -> None:
        if self.num_winds not in (1, 2):
            raise ValueError(f"num_winds is {self.num_winds}: use 1 (East only) or 2 (East and South)")
        if self.start_points <= 0 or self.start_points % 100:
            raise ValueError(f"start_points is {self.start_points}: use a positive multiple of 100")
        if self.target_points % 100:
            raise ValueError(f"target_points is {self.target_points}: use a multiple of 100")


def tenhou() -> Rules:
    """Return the rules of riichi.md's table: hanchan, 25,000 / 30,000, open tanyao, red fives."""
    return Rules()


def tonpuu() -> Rules:
    """Return the East-only game with the same rules."""
    return Rules(num_winds=1)
