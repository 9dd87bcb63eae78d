"""All tables of one server: each page gets its own, and finds it again after a reload."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

from suphx_pipelines.riichi_play.play_config import PlayConfig
from suphx_pipelines.riichi_play.play_table import PlayTable
from suphx_pipelines.riichi_play.seated_agents import AgentLoader
from suphx_pipelines.riichi_play.seated_game import SeatedGame, continued_games

MAX_TABLES = 16


class PlayTables:
    """Makes tables and finds them by id."""

    def __init__(self, config: PlayConfig, loader: AgentLoader) -> None:
        self._config = config
        self._loader = loader
        self._tables: dict[str, PlayTable] = {}
        self._num_games = 0
        self._continued: Iterator[SeatedGame] | None = None

    def find(self, table_id: str) -> PlayTable | None:
        """Return the table of this id, None if there is none."""
        return self._tables.get(table_id)

    def sit(self, table_id: str | None) -> PlayTable:
        """Return the table of this id; else one where a game goes on and nobody watches; else a new one.

        Games that an earlier command did not finish go on first.
        """
        table = self._tables.get(table_id or "")
        if table is not None:
            return table
        left = [each for each in self._tables.values() if not each.is_watched and not each.is_over]
        if left:
            return left[-1]
        if self._continued is None:
            self._continued = continued_games(self._config, self._loader)
        game = next(self._continued, None) if len(self._tables) < MAX_TABLES else None
        if game is None:
            return self.new_table()
        self._num_games = max(self._num_games, game.number + 1)  # with a seed, the next new game has the next walls
        return self._add(game)

    def new_table(self) -> PlayTable:
        """Return a table at which a new game begins; ValueError if there are too many games."""
        if len(self._tables) >= MAX_TABLES:
            self._forget_one()
        game = SeatedGame.new(self._config, self._loader, self._num_games)
        self._num_games += 1
        return self._add(game)

    async def close(self) -> None:
        """End all games."""
        for table in self._tables.values():
            await table.close()

    def _add(self, game: SeatedGame) -> PlayTable:
        table = PlayTable(secrets.token_hex(8), game)
        self._tables[table.id] = table
        return table

    def _forget_one(self) -> None:
        """Remove the oldest table whose game is over and that nobody watches."""
        for table_id, table in self._tables.items():
            if table.is_over and not table.is_watched:
                table.leave()
                del self._tables[table_id]
                return
        raise ValueError(f"there are already {MAX_TABLES} games: finish one of them, or restart the command")
