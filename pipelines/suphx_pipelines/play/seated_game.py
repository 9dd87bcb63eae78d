"""A person's game of riichi with agents, wherever it is shown: settings, the agents at the other seats, files.

>>> game = next(continued_games(config, agents), None) or SeatedGame.new(config, agents)
>>> ...  # moves of game.session
>>> game.keep()  # now and then
>>> record = game.finish()  # when game.session.is_over
"""

from __future__ import annotations

import errno
import json
import logging
import os
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Self

from filelock import lock_descriptor
from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass as checked_dataclass

from suphx.games.game import Agent
from suphx.games.registry import agent_names
from suphx.games.riichi.archive.record_writer import write_records
from suphx.games.riichi.play import GameSession, move_hint
from suphx.games.riichi.records.decisions import recorded_decisions
from suphx.games.riichi.records.viewer_game import viewer_game
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.simulator import MAX_SEED
from suphx.kernel.record import Records
from suphx.selfplay.agents.agent import JudgingAgent
from suphx.selfplay.agents.opinion import agent_opinions, opinions_at
from suphx.selfplay.rollouts.rollout import GameFollower
from suphx_pipelines.viewer.viewer_page import viewer_page

GAME = "riichi"
WINDS = {"tonpuu": 1, "hanchan": 2}
"""Planned rounds of a game, by its length."""
SUFFIX = ".unfinished"
_MAX_NAME = 20
_MAX_BYTES = 1_000_000  # a hanchan has about 1,000 actions
_logger = logging.getLogger(__name__)

AGENT_ERRORS = (ValueError, OSError, RuntimeError, MemoryError)
"""What an agent that fails may raise: programs end, memory and GPUs run out."""


def reason_of(error: BaseException) -> str:
    """Return why something failed: never an empty text."""
    return str(error) or type(error).__name__


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
    """Of the person; 0 is the first dealer."""
    length: str = "hanchan"
    out: Path = Path("games")
    """Folder of the records of finished games, and of the moves of unfinished ones."""
    continues: bool = True
    """Go on with games of these settings that an earlier command did not finish."""

    def seed_of_game(self, game: int) -> int | None:
        """Return the seed of game number ``game``; None if walls are other ones every time."""
        return None if self.seed is None else (self.seed + game) % MAX_SEED


class Agents:
    """Gives each table its agent. Nets are loaded once; an agent that remembers a game is loaded for every table."""

    def __init__(self, address: str, load: Callable[[str], Agent]) -> None:
        """``load`` returns the agent of ``address``, which people see as its name; its errors are raised here."""
        self._address, self._load = address, load
        first = load(address)
        is_shared = isinstance(first, JudgingAgent) or address in agent_names(GAME)
        self._shared = SeatedAgent(first, address, is_shared=True) if is_shared else None
        self._first: Agent | None = first

    def seat(self) -> SeatedAgent:
        """Return the agent of a new table."""
        if self._shared is not None:
            return self._shared
        agent, self._first = self._first, None
        return SeatedAgent(agent or self._load(self._address), self._address, is_shared=False)


class SeatedAgent:
    """One agent that answers for all other seats; any thread may ask it."""

    def __init__(self, agent: Agent, name: str, *, is_shared: bool) -> None:
        self.agent, self.name = agent, name
        self.has_hints = not (isinstance(agent, JudgingAgent) and agent.sees_hidden_tiles)
        """It can be asked about the person's moves: an agent that sees what is hidden would reveal it."""
        self.judges_records = self.has_hints and is_shared
        """It can be asked about a finished game; one that follows or adapts to games cannot."""
        self._lock = threading.Lock()

    @property
    def follows_game(self) -> bool:
        """Tell whether the agent decides by what has happened in the game, not by the table alone."""
        return isinstance(self.agent, GameFollower)

    def act(self, tables: Any, indices: Any) -> Any:
        """Return a legal move for each of the tables ``indices``."""
        with self._lock:
            return self.agent.act(tables, indices)

    def hint(self, tables: Records) -> dict[str, Any]:
        """Return what the agent would do at the only table (1,), as ``move_hint`` does.

        One of AGENT_ERRORS if it fails, or cannot play this game to its end.
        """
        with self._lock:
            opinions = opinions_at(self.agent, tables)
            if isinstance(self.agent, GameFollower):
                reason = self.agent.forfeits(0).get(int(tables["actor"][0]))
                if reason is not None:
                    raise ValueError(f"the agent gives no hints in this game: {reason}")
            return move_hint(tables[0], int(opinions.actions[0]), opinions.probabilities[0])

    def follow(self, session: GameSession) -> None:
        """Let an agent that follows whole games follow this one."""
        if isinstance(self.agent, GameFollower):
            self.agent.follow(session.recorder)

    def leave(self) -> None:
        """End what the agent has started for the game, such as programs."""
        if isinstance(self.agent, GameFollower):
            self.agent.leave()


@checked_dataclass(frozen=True, slots=True, kw_only=True, config=ConfigDict(strict=True, extra="forbid"))
class GameSettings:
    """The first line of the file of an unfinished game."""

    id: str
    agent: str
    """Address, as it was typed."""
    name: str
    """Of the person."""
    seat: int
    length: str
    seed: Annotated[int, Field(ge=0)]
    """Of the walls."""
    game: Annotated[int, Field(ge=0)] = 0
    """Number of the game in the command that began it, from 0 on."""


_SETTINGS = TypeAdapter(GameSettings)
_ACTIONS = TypeAdapter(list[Annotated[int, Field(ge=0, strict=True)]])


class SeatedGame:
    """Consumes: settings, perhaps the file of an unfinished game. Produces: a session with agents, and its files.

    While a game is running, a file that this process has locked has its settings in the first line, and in each further
    line the actions since the one before.
    """

    def __init__(
        self,
        settings: GameSettings,
        config: PlayConfig,
        agents: Agents,
        *,
        file: BinaryIO | None = None,
        actions: Sequence[int] = (),
    ) -> None:
        """``file``: of a game that continues with ``actions``; that of a new one is made when the person has moved.

        ValueError if the actions are not legal, or the agent cannot be loaded.
        """
        self.settings = settings
        self.agents = agents.seat()
        self.save_problem = ""
        """Why the last ``keep`` failed; empty if it did not."""
        self.record: Path | None = None
        """Of a game that is over, once it is written."""
        self._folder = config.out
        self._path = config.out / f"{settings.id}{SUFFIX}"
        self._file, self._num_kept = file, len(actions)
        self._last_hint: tuple[int, dict[str, Any]] | None = None
        short = settings.agent.rstrip("/").split("/")[-1][:_MAX_NAME]  # of a path only its last part
        names = [f"{short} {number}" for number in (1, 2, 3)]
        names.insert(settings.seat, settings.name)
        try:
            first, second, third, fourth = names
            self.session = GameSession(
                self.agents.act,
                rules=replace(tenhou(), num_winds=WINDS[settings.length]),
                seat=settings.seat,
                seed=settings.seed,
                names=(first, second, third, fourth),
                game_id=settings.id,
                actions=actions,
            )
        except BaseException:
            self.agents.leave()
            raise
        self.agents.follow(self.session)

    @classmethod
    def new(cls, config: PlayConfig, agents: Agents, game: int = 0, now: Callable[[], datetime] = datetime.now) -> Self:
        """Begin game number ``game`` (from 0 on) of a command; ValueError if the agent cannot be loaded."""
        seed = config.seed_of_game(game)
        settings = GameSettings(
            id=f"play-{now():%Y%m%d-%H%M%S}-{game + 1}",
            agent=config.agent,
            name=config.name,
            seat=config.seat,
            length=config.length,
            seed=secrets.randbelow(MAX_SEED) if seed is None else seed,
            game=game,
        )
        return cls(settings, config, agents)

    @property
    def is_kept(self) -> bool:
        """Whether all moves up to the last ``keep`` are saved, so that another command can go on with the game."""
        return self._file is not None and not self.save_problem

    def hint(self, number: int, tables: Records) -> dict[str, Any]:
        """Return what the agent would do at the person's decision ``number``; it is asked about each once.

        ``tables``: of ``session.decision``. One of AGENT_ERRORS if the agent fails.
        """
        if self._last_hint is None or self._last_hint[0] != number:
            self._last_hint = number, self.agents.hint(tables)
        return self._last_hint[1]

    def keep(self) -> None:
        """Save the moves of a game in which the person has made one, or the record of one that is over.

        If that fails, ``save_problem`` says why.
        """
        try:
            if self.session.is_over:
                self.record = self.record or self.finish()
            elif self.session.number:
                if self._file is None:
                    self._file = self._new_file()
                new = [int(action) for action in self.session.actions[self._num_kept :]]
                if new:
                    _append(self._file, self._path, new)
                    self._num_kept += len(new)
                    os.fsync(self._file.fileno())
            self.save_problem = ""
        except AGENT_ERRORS as error:  # such as a full disk
            self.save_problem = reason_of(error)
            _logger.warning("the game would be lost if the command stopped now: %s", error)

    def finish(self) -> Path:
        """End what the agents have started, write the record and return its path; OSError if that fails."""
        self.agents.leave()
        log = self.session.log()
        write_records([log], self._folder, "mjlog")
        record = self._folder / f"{log.id}.mjlog"
        if self._file is not None:
            _remove(self._file, self._path)
        return record

    def finished_page(self) -> str:
        """Return the viewer's page of the finished game, with the agent's choices if it can be asked."""
        log, opinions = self.session.log(), None
        if self.agents.judges_records:
            opinions = replace(agent_opinions(self.agents.agent, recorded_decisions(log)), name=self.agents.name)
        return viewer_page(viewer_game(log, opinions), title=log.id, seat=self.session.seat)

    def close(self) -> None:
        """End what the agents have started; the game can go on in another command."""
        self.agents.leave()
        if self._file is not None:
            self._file.close()

    def _new_file(self) -> BinaryIO:
        """Create the file; OSError if that fails: without its settings nobody could go on with it."""
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._path.open("x+b", buffering=0)
        try:
            lock_descriptor(file.fileno(), blocking=False)
            _append(file, self._path, asdict(self.settings))
        except OSError:
            _remove(file, self._path)
            raise
        return file


def continued_games(config: PlayConfig, agents: Agents) -> Iterator[SeatedGame]:
    """Yield the unfinished games of these settings that nobody plays, the newest first; damaged ones are named."""
    for path in sorted(config.out.glob(f"*{SUFFIX}"), reverse=True) if config.continues else ():
        file = None
        try:
            file = path.open("r+b", buffering=0)
            if lock_descriptor(file.fileno(), blocking=False):  # else another command plays it
                settings, actions = _read(path, file)
                has_seed = config.seed_of_game(settings.game) in (None, settings.seed)
                same = (settings.agent, settings.seat, settings.length) == (config.agent, config.seat, config.length)
                if has_seed and same:
                    yield SeatedGame(settings, config, agents, file=file, actions=actions)
                    continue
        except (OSError, ValueError) as error:
            _logger.warning("%s cannot be continued: %s", path.stem, error)
        if file is not None:
            file.close()


def _remove(file: BinaryIO, path: Path) -> None:
    if os.name == "nt":  # Windows removes no open file; elsewhere nobody else shall open it before it is gone
        file.close()
    path.unlink(missing_ok=True)
    file.close()


def _append(file: BinaryIO, path: Path, content: object) -> None:
    """Write a whole line, or nothing and raise OSError."""
    line, place = json.dumps(content, ensure_ascii=False).encode() + b"\n", file.tell()
    if file.write(line) < len(line):
        file.truncate(place)
        file.seek(place)
        raise OSError(errno.ENOSPC, f"cannot write {path}: free space in {path.parent}")


def _read(path: Path, file: BinaryIO) -> tuple[GameSettings, list[int]]:
    """Return settings and actions, and cut off half a line of a command that was killed; ValueError if damaged."""
    content = file.read(_MAX_BYTES)
    length = content.rfind(b"\n") + 1
    try:
        first, *rest = content[:length].splitlines()
        settings = _SETTINGS.validate_json(first)
        actions = [action for line in rest for action in _ACTIONS.validate_json(line)]
    except ValueError as error:
        raise ValueError(f"{path} is damaged: remove it") from error
    if settings.id != path.stem or len(content) == _MAX_BYTES:
        raise ValueError(f"{path} is damaged: remove it")
    file.truncate(length)
    file.seek(length)
    return settings, actions
