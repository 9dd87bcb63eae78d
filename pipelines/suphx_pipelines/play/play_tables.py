"""All tables of one server: each page gets its own, and finds it again after a reload."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from suphx.games.riichi import MAX_SEED, GameSession, Rules, tenhou
from suphx_pipelines.play.play_table import PlayTable
from suphx_pipelines.play.saved_game import save_record
from suphx_pipelines.play.seated_agents import AgentLoader, SeatedAgents

MAX_TABLES = 16
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
    """Folder of the records of finished games."""

    def rules(self) -> Rules:
        """Return Tenhou's rules for this length."""
        return replace(tenhou(), num_winds=WINDS[self.length])


class PlayTables:
    """Makes tables and finds them by id."""

    def __init__(self, config: PlayConfig, loader: AgentLoader) -> None:
        self._config = config
        self._loader = loader
        self._tables: dict[str, PlayTable] = {}
        self._num_games = 0

    def find(self, table_id: str) -> PlayTable | None:
        """Return the table of this id, None if there is none."""
        return self._tables.get(table_id)

    def sit(self, table_id: str | None) -> PlayTable:
        """Return the table of this id; else one that nobody watches and where a game goes on; else a new one."""
        table = self._tables.get(table_id or "")
        if table is not None:
            return table
        left = [each for each in self._tables.values() if not each.is_watched and not each.is_over]
        return left[-1] if left else self.new_table()

    def new_table(self) -> PlayTable:
        """Return a table at which a new game begins; ValueError if there are too many games."""
        if len(self._tables) >= MAX_TABLES:
            self._forget_one()
        session, agents = new_game(self._config, self._loader, self._num_games)
        self._num_games += 1
        table = PlayTable(secrets.token_hex(8), session, agents, lambda log: save_record(log, self._config.out))
        self._tables[table.id] = table
        return table

    async def close(self) -> None:
        """End all games."""
        for table in self._tables.values():
            await table.close()

    def _forget_one(self) -> None:
        """Remove the oldest table whose game is over and that nobody watches."""
        for table_id, table in self._tables.items():
            if table.is_over and not table.is_watched:
                table.agents.leave()
                del self._tables[table_id]
                return
        raise ValueError(f"there are already {MAX_TABLES} games: finish one of them, or restart the command")


def new_game(
    config: PlayConfig, loader: AgentLoader, game: int, now: Callable[[], datetime] = datetime.now
) -> tuple[GameSession, SeatedAgents]:
    """Return game number ``game`` (from 0 on) and its agents; ValueError if the agent cannot be loaded."""
    agents = loader.seat()
    session = GameSession(
        agents.act,
        seat=config.seat,
        seed=secrets.randbelow(MAX_SEED) if config.seed is None else (config.seed + game) % MAX_SEED,
        rules=config.rules(),
        names=seat_names(config),
        game_id=f"play-{now():%Y%m%d-%H%M%S}-{game + 1}",
    )
    return session, agents


def seat_names(config: PlayConfig) -> tuple[str, str, str, str]:
    """Return the names by seat: the person, and the agent with a number; of a path only its last part."""
    short = config.agent.rstrip("/").split("/")[-1][:_MAX_NAME]
    names = [f"{short} {number}" for number in range(1, 4)]
    names.insert(config.seat, config.name)
    first, second, third, fourth = names
    return first, second, third, fourth
