"""A person's game of riichi with three agents, wherever it is shown: settings, the agents at the other seats, files.

>>> game = next(continued_games(config, loader), None) or SeatedGame.new(config, loader, 0)
>>> ...  # moves of game.session
>>> game.keep()  # now and then
>>> record = game.finish()  # when game.session.is_over
"""

from __future__ import annotations

import errno
import fcntl
import json
import logging
import os
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Literal, Self

import numpy as np

from suphx.games.game import Agent
from suphx.games.riichi.archive.record_writer import write_records
from suphx.games.riichi.play import GameSession, move_hint
from suphx.games.riichi.records.decisions import recorded_decisions
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.viewer_game import viewer_game
from suphx.games.riichi.rules import Rules, tenhou
from suphx.games.riichi.simulator import MAX_SEED
from suphx.games.riichi.tables import ScriptedAgent
from suphx.json_text import parse_json
from suphx.kernel.record import I16, I64, Records
from suphx.selfplay.agents.agent import NetAgent
from suphx.selfplay.agents.opinion import agent_opinions, opinions_at
from suphx.selfplay.rollouts.rollout import GameFollower
from suphx_pipelines.viewer.viewer_page import VIEWS, page_words, viewer_page

Length = Literal["hanchan", "tonpuu"]
PLAY = "suphx_pipelines.play"
"""The package of the page."""
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


def play_words() -> dict[str, dict[str, Any]]:
    """Return the words by language: the viewer's, and those that only this page needs."""
    own = page_words(PLAY)
    return {
        language: {**viewer, "words": {**viewer["words"], **own[language]["words"]}, "keys": own[language]["keys"]}
        for language, viewer in VIEWS["riichi"].words().items()
    }


def seat_names(config: PlayConfig) -> tuple[str, str, str, str]:
    """Return the names by seat: the person, and the agent with a number; of a path only its last part."""
    short = config.agent.rstrip("/").split("/")[-1][:_MAX_NAME]
    names = [f"{short} {number}" for number in range(1, 4)]
    names.insert(config.seat, config.name)
    first, second, third, fourth = names
    return first, second, third, fourth


LoadAgent = Callable[[str], Agent]
AGENT_ERRORS = (ValueError, OSError, RuntimeError, MemoryError)
"""What an agent that fails may raise: programs end, memory and GPUs run out."""


def reason_of(error: BaseException) -> str:
    """Return why something failed: never an empty text."""
    return str(error) or type(error).__name__


class AgentLoader:
    """Gives each table its agents. Nets are loaded once; an agent that remembers a game is loaded for every table."""

    def __init__(self, address: str, load: LoadAgent) -> None:
        """``load`` returns the agent of ``address``; its errors are raised here, before the first game.

        People see the agent under its address.
        """
        self._address = address
        self._load = load
        self._first: Agent | None = load(address)
        self._shared = self._first if isinstance(self._first, ScriptedAgent | NetAgent) else None
        self._lock = threading.Lock()

    def seat(self) -> SeatedAgents:
        """Return the agents of a new table."""
        if self._shared is not None:
            return SeatedAgents(self._shared, self._lock, self._address)
        agent, self._first = self._first, None
        return SeatedAgents(agent or self._load(self._address), threading.Lock(), self._address)


class SeatedAgents:
    """One agent that answers for three seats of one table; any thread may ask it."""

    def __init__(self, agent: Agent, lock: threading.Lock, name: str) -> None:
        """``lock`` is held while the agent decides."""
        self.agent = agent
        self.name = name
        self._lock = lock
        self._last_hint: tuple[int, dict[str, Any]] | None = None

    def act(self, tables: Records, indices: I64) -> I16:
        """Return a legal action for each of the tables ``indices``."""
        with self._lock:
            return np.asarray(self.agent.act(tables, indices), np.int16)

    def follow(self, session: GameSession) -> None:
        """Let an agent that follows whole games follow this one."""
        if isinstance(self.agent, GameFollower):
            self.agent.follow(session.recorder)

    def leave(self) -> None:
        """End what the agent has started for the game, such as programs."""
        if isinstance(self.agent, GameFollower):
            self.agent.leave()

    @property
    def follows_game(self) -> bool:
        """Tell whether the agent decides by what has happened in the game, not by the table alone."""
        return isinstance(self.agent, GameFollower)

    @property
    def has_hints(self) -> bool:
        """Tell whether the agent can be asked about the person's moves: those of hidden tiles would reveal them."""
        return not (isinstance(self.agent, NetAgent) and self.agent.sees_hidden_tiles)

    @property
    def judges_records(self) -> bool:
        """Tell whether the agent can be asked about a finished game; one that follows or adapts to games cannot."""
        return self.has_hints and isinstance(self.agent, ScriptedAgent | NetAgent)

    def hint(self, number: int, tables: Records) -> dict[str, Any]:
        """Return what the agent would do at the only table (1,), as ``move_hint`` does.

        ``number``: of the person's move (``GameSession.number``); the agent is asked about each once. Raises one of
        AGENT_ERRORS if the agent fails.
        """
        with self._lock:
            if self._last_hint is None or self._last_hint[0] != number:
                self._last_hint = number, self._ask(tables)
            return self._last_hint[1]

    def _ask(self, tables: Records) -> dict[str, Any]:
        opinions = opinions_at(self.agent, tables)
        if isinstance(self.agent, GameFollower):
            reason = self.agent.forfeits(0).get(int(tables["actor"][0]))
            if reason is not None:
                raise ValueError(f"the agent gives no hints in this game: {reason}")
        return move_hint(tables[0], int(opinions.actions[0]), opinions.probabilities[0])


def finished_page(log: GameLog, seat: int, agents: SeatedAgents) -> str:
    """Return the viewer's page of the game, seen from ``seat``, with the agent's choices if it can be asked."""
    opinions = None
    if agents.judges_records:
        opinions = replace(agent_opinions(agents.agent, recorded_decisions(log)), name=agents.name)
    return viewer_page(viewer_game(log, opinions), title=log.id, seat=seat)


SUFFIX = ".unfinished"
_MAX_BYTES = 1_000_000  # a hanchan has about 1,000 actions
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class GameSettings:
    """The first line of a file."""

    id: str
    agent: str
    """Address, as it was typed."""
    name: str
    """Of the person."""
    seat: int
    length: str
    seed: int
    """Of the walls."""
    game: int = 0
    """Number of the game in the command that began it, from 0 on."""

    def fits(self, config: PlayConfig) -> bool:
        """Tell whether a command with this configuration goes on with the game."""
        has_seed = config.seed is None or config.seed_of_game(self.game) == self.seed
        return has_seed and (self.agent, self.seat, self.length) == (config.agent, config.seat, config.length)


class UnfinishedGame:
    """The file of one game, which this process alone has."""

    def __init__(self, path: Path, file: BinaryIO, settings: GameSettings, actions: Sequence[int]) -> None:
        self.settings = settings
        self.actions = list(actions)
        """Those in the file."""
        self._path = path
        self._file = file

    @classmethod
    def begin(cls, settings: GameSettings, folder: Path) -> Self:
        """Create the file of a new game; OSError if that fails."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{settings.id}{SUFFIX}"
        file = path.open("x+b", buffering=0)
        game = cls(path, file, settings, [])
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            game._append(_line(asdict(settings)))
        except OSError:
            game.remove()  # without its settings nobody could go on with it
            raise
        return game

    @classmethod
    def open(cls, path: Path) -> Self:
        """Take the game of a file; BlockingIOError if another process plays it, ValueError if it is damaged."""
        file = path.open("r+b", buffering=0)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            settings, actions, length = _read(path, file)
        except BaseException:
            file.close()
            raise
        file.truncate(length)  # half a line of a command that was killed
        file.seek(length)
        return cls(path, file, settings, actions)

    def keep(self, actions: Sequence[int]) -> None:
        """Write down what is new of all ``actions`` of the game; OSError if that fails."""
        new = [int(action) for action in actions[len(self.actions) :]]
        if not new:
            return
        self._append(_line(new))
        self.actions += new
        os.fsync(self._file.fileno())

    def remove(self) -> None:
        """Remove the file: the game is over."""
        self._path.unlink(missing_ok=True)
        self.close()

    def _append(self, line: bytes) -> None:
        """Write a whole line, or nothing and raise OSError."""
        place = self._file.tell()
        if self._file.write(line) < len(line):
            self._file.truncate(place)
            self._file.seek(place)
            raise OSError(errno.ENOSPC, f"cannot write {self._path}: free space in {self._path.parent}")

    def close(self) -> None:
        """Leave the game to whoever goes on with it."""
        self._file.close()


def unfinished_games(config: PlayConfig) -> Iterator[UnfinishedGame]:
    """Yield the games in ``config.out`` that nobody plays and that fit, the newest first; damaged ones are named."""
    for path in sorted(config.out.glob(f"*{SUFFIX}"), reverse=True) if config.continues else ():
        try:
            game = UnfinishedGame.open(path)
        except BlockingIOError:
            continue
        except (OSError, ValueError) as error:
            _logger.warning("an unfinished game cannot be continued: %s", error)
            continue
        if game.settings.fits(config):
            yield game
        else:
            game.close()


def _line(content: object) -> bytes:
    return json.dumps(content, ensure_ascii=False).encode() + b"\n"


def _read(path: Path, file: BinaryIO) -> tuple[GameSettings, list[int], int]:
    """Return settings, actions and the length of the lines that are whole; ValueError if the file is damaged."""
    content = file.read(_MAX_BYTES)
    length = content.rfind(b"\n") + 1
    try:
        first, *rest = (parse_json(line) for line in content[:length].splitlines())
        settings = GameSettings(**first)
        actions = [action for line in rest for action in line]
        kinds = [type(value) for value in (*astuple(settings), *actions)]
        is_right = kinds == [str, str, str, int, str, int, int, *[int] * len(actions)]
        is_right = is_right and settings.id == path.stem and 0 <= settings.seed < MAX_SEED and settings.game >= 0
    except (ValueError, TypeError, RecursionError):
        is_right = False
    if not is_right or len(content) == _MAX_BYTES:
        raise ValueError(f"{path} is damaged: remove it")
    return settings, actions, length


class SeatedGame:
    """Consumes: settings, perhaps an unfinished game. Produces: a session with agents, and its files."""

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
        log = self.session.log()
        write_records([log], self._config.out, "mjlog")
        if self._unfinished is not None:
            self._unfinished.remove()
        return self._config.out / f"{log.id}.mjlog"

    def close(self) -> None:
        """End what the agents have started; the game can go on in another command."""
        self.agents.leave()
        if self._unfinished is not None:
            self._unfinished.close()

    def _settings(self) -> GameSettings:
        session, config = self.session, self._config
        return GameSettings(
            id=session.id,
            agent=config.agent,
            name=session.names[session.seat],
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
