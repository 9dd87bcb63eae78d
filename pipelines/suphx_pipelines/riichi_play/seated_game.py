"""A game with its agents and its files: the moves while it goes on, the record when it is over."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Self

from suphx.games.riichi import MAX_SEED, GameSession
from suphx_pipelines.riichi_play.play_config import PlayConfig, seat_names
from suphx_pipelines.riichi_play.saved_game import save_record
from suphx_pipelines.riichi_play.seated_agents import AgentLoader, SeatedAgents, reason_of
from suphx_pipelines.riichi_play.unfinished_game import GameSettings, UnfinishedGame, unfinished_games

_logger = logging.getLogger(__name__)


class SeatedGame:
    """Consumes: settings, perhaps an unfinished game. Produces: a session with agents, and its files.

    Usage::

        game = next(continued_games(config, loader), None) or SeatedGame.new(config, loader, 0)
        ...  # moves of game.session
        game.keep()  # now and then
        record = game.finish()  # when game.session.is_over
    """

    def __init__(
        self,
        session: GameSession,
        agents: SeatedAgents,
        config: PlayConfig,
        number: int,
        unfinished: UnfinishedGame | None = None,
    ) -> None:
        """``unfinished``: the file of a game that goes on; that of a new one is made when the person has moved."""
        self.session = session
        self.agents = agents
        self.number = number
        """Of the game in its command, from 0 on."""
        self.is_kept = unfinished is not None
        """Whether all moves up to the last ``keep`` are saved, so that another command can go on with the game."""
        self.save_problem = ""
        """Why the last ``keep`` failed; empty if it did not."""
        self._config = config
        self._unfinished = unfinished
        agents.follow(session)

    @classmethod
    def new(
        cls, config: PlayConfig, loader: AgentLoader, game: int, now: Callable[[], datetime] = datetime.now
    ) -> Self:
        """Begin game number ``game`` (from 0 on); ValueError if the agent cannot be loaded."""
        agents = loader.seat()
        seed = config.seed_of_game(game)
        session = GameSession(
            agents.act,
            seat=config.seat,
            seed=secrets.randbelow(MAX_SEED) if seed is None else seed,
            rules=config.rules(),
            names=seat_names(config),
            game_id=f"play-{now():%Y%m%d-%H%M%S}-{game + 1}",
        )
        return cls(session, agents, config, game)

    @classmethod
    def continued(cls, unfinished: UnfinishedGame, config: PlayConfig, loader: AgentLoader) -> Self:
        """Go on with a game; ValueError if its moves cannot be made, or the agent cannot be loaded."""
        settings = unfinished.settings
        agents = loader.seat()
        try:
            session = GameSession(
                agents.act,
                seat=settings.seat,
                seed=settings.seed,
                rules=config.rules(),
                names=seat_names(replace(config, name=settings.name)),
                game_id=settings.id,
                actions=unfinished.actions,
            )
        except BaseException:
            agents.leave()
            raise
        return cls(session, agents, config, settings.game, unfinished)

    def keep(self) -> None:
        """Save the moves of a game in which the person has made one; a warning if that fails."""
        if not self.session.number:
            return
        try:
            if self._unfinished is None:
                self._unfinished = UnfinishedGame.begin(self._settings(), self._config.out)
            self._unfinished.keep(self.session.actions)
            self.is_kept, self.save_problem = True, ""
        except OSError as error:
            self.is_kept, self.save_problem = False, reason_of(error)
            _logger.warning("the game would be lost if the command stopped now: %s", error)

    def finish(self) -> Path:
        """End what the agents have started, write the record and return its path; OSError if that fails."""
        self.agents.leave()
        record = save_record(self.session.log(), self._config.out)
        if self._unfinished is not None:
            self._unfinished.remove()
        return record

    def close(self) -> None:
        """End what the agents have started; the game can go on in another command."""
        self.agents.leave()
        if self._unfinished is not None:
            self._unfinished.close()

    def _settings(self) -> GameSettings:
        session, config = self.session, self._config
        name = session.names[session.seat]
        return GameSettings(
            id=session.id,
            agent=config.agent,
            name=name,
            seat=session.seat,
            length=config.length,
            seed=session.seed,
            game=self.number,
        )


def continued_games(config: PlayConfig, loader: AgentLoader) -> Iterator[SeatedGame]:
    """Yield the unfinished games of these settings, the newest first; those that cannot go on are named and left."""
    for unfinished in unfinished_games(config):
        try:
            yield SeatedGame.continued(unfinished, config, loader)
        except ValueError as error:
            _logger.warning("%s cannot be continued: %s", unfinished.settings.id, error)
            unfinished.close()
