"""The contract of a game whose seats have several kinds of decisions, each answered by a net of its own (a head).

``registry.py`` has such games by name; ``riichi/game.py`` is the one that there is. The parts of Figure 6 get tables
from here and do not know which game is played; nets, rewards and matches belong to riichi (docs/games.md lists them).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import numpy as np

from suphx.experience.decisions import Decisions
from suphx.experience.observation import F32, Observations, OpponentConfig, PolicyOutputs
from suphx.games.registry import DEFAULT_GAME, find_game, load_game


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """One kind of decision, which one net answers."""

    name: str
    """Also of the net's file, of its figures and in recipes."""
    outputs: tuple[str, ...]
    """What the logits of its net are for: actions by their names, or no and yes."""
    num_choices: int
    """Columns of a mask of legal actions; 0: yes and no are both always legal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupConfig:
    """Tables that are played side by side."""

    num_tables: int
    heads: tuple[int, ...]
    """Heads that learn: their decisions are kept."""
    opponents: OpponentConfig = field(default_factory=OpponentConfig)
    sees_hidden: bool = False
    """Observations for the heads that learn have oracle planes (paper, section 3.3)."""
    has_costs: bool = False
    """Decisions of the discard net are kept with what each discard costs at once (riichi/selfplay/table_group.py)."""
    has_draw_lanes: bool = False
    """Every seat draws from its own positions of the wall (riichi/kyoku.py)."""
    first_steps: int = 1
    """The tables begin one after another over this many steps; otherwise all deals would end at the same time."""

    def __post_init__(self) -> None:
        for name in ("num_tables", "first_steps"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: use at least 1")


class EndedDeals(Protocol):
    """Deals that ended in a step, and what the learning seats decided in them."""

    @property
    def kyokus(self) -> Any:
        """The ends themselves: what rewards are made of."""
        ...

    @property
    def num_games(self) -> int:
        """Whole games that ended."""
        ...

    @property
    def num_deals(self) -> int:
        """Deals that ended, those at the ends of games among them."""
        ...

    @property
    def num_decisions(self) -> int:
        """Tables that have played on."""
        ...

    def with_rewards(self, rewards: F32) -> list[Decisions]:
        """Return the decisions of each head; ``rewards`` [deals, seats]. To be called before the next step."""
        ...


class Tables(Protocol):
    """Consumes: outputs. Produces: observations, and the decisions of deals that ended. Waits for nothing."""

    def observe(self, keep_probability: float = 1.0) -> list[Observations]:
        """Return the observations of all tables, one part for each head that is needed.

        ``keep_probability``: of the keep-masks, in rows that have what is hidden.
        """
        ...

    def step(self, outputs: Sequence[PolicyOutputs]) -> EndedDeals:
        """Play on with the outputs for the last ``observe`` until every table waits; return what ended on the way."""
        ...

    def state(self) -> dict[str, np.ndarray]:
        """Return all that ``restore`` needs; observations that wait for outputs are made again."""
        ...

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from a ``state`` of equal tables."""
        ...


class HeadGame(Protocol):
    """A game whose seats have several kinds of decisions."""

    @property
    def name(self) -> str:
        """In the registry."""
        ...

    @property
    def heads(self) -> tuple[Head, ...]:
        """The kinds of decisions; a head's number is its place here."""
        ...

    def new_tables(self, config: GroupConfig, encoder: str, *, first_seed: int) -> Tables:
        """Deal the first games; their seeds are ``first_seed``, ``first_seed`` + 1, …

        ``encoder``: the name of what nets see; ValueError for an unknown one.
        """
        ...

    def observation_bytes(self, encoder: str, head: int, *, has_oracle: bool) -> int:
        """Return the bytes of a row of a head's decisions; ``has_oracle``: with what is hidden."""
        ...


def head_game(name: str = DEFAULT_GAME) -> HeadGame:
    """Return a game of the registry whose seats have several kinds of decisions; ValueError for another one.

    >>> [head.name for head in head_game("riichi").heads]
    ['discard', 'riichi', 'chow', 'pong', 'kong']
    """
    entry = find_game(name)
    if not entry.has_heads:
        raise ValueError(f"{entry.title} has no heads: its seats choose among candidates, so use candidate_game")
    return cast("HeadGame", load_game(name))
