"""``suphx play`` in the browser: the page, the server, and the tables that pages watch.

| route | what |
|---|---|
| ``/`` | the page: the viewer's table, tiles and words, and a person's hand and moves below it. It knows no rule |
| ``/play`` | websocket between a page and its table: ``read_message`` has what the page sends |
| ``/game/<table>`` | the finished game in the viewer |

Requests that are not allowed do not reach these routes (local_web.py). A table sends:

| message | keys |
|---|---|
| ``view`` | ``table``, ``agent``, ``has_hints``, ``record``, ``problem``, ``save_problem``, the session's ``view``'s |
| ``steps`` | ``number``, ``steps``: what has happened since the last message |
| ``hint`` | ``number``, and all of ``move_hint``; or ``reason``, why there is none |
| ``refused`` | ``reason`` |
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from suphx_pipelines.play.riichi_terminal import play_in_terminal
from suphx_pipelines.play.seated_game import (
    AGENT_ERRORS,
    GAME,
    Agents,
    PlayConfig,
    SeatedGame,
    continued_games,
    reason_of,
)
from suphx_pipelines.viewer.viewer_page import PLAY, VIEWS, filled_page, page_file, shared_script
from suphx_platform.agents.agent_loading import load_any_agent
from suphx_platform.agents.agent_source import AgentSource
from suphx_platform.console.console import Console
from suphx_platform.kernels.kernel_warmup import compile_kernels
from suphx_platform.local_web import LocalServer
from suphx_platform.tracking.mlflow_store import MlflowStore


class ClientMessage(BaseModel):
    """One message of a page."""

    model_config = ConfigDict(strict=True, frozen=True)
    type: Literal["sit", "new", "move", "next", "hint"]
    """``sit``: to ``table``, or any; ``new``: to a new game."""
    number: int = -1
    """Of the view that the person sees (``session.number``); without one it is refused as another moment."""
    action: int = -1
    discard: int | None = None
    table: str | None = None


def read_message(text: str) -> ClientMessage:
    """Return the message in ``text``; ValueError if a page of ours cannot have sent it."""
    try:
        return ClientMessage.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}: reload the page") from error


Message = dict[str, Any]
Watcher = Callable[[Message], None]


class PlayTable:
    """One game in the server. It goes on whether or not a page watches it.

    Consumes: messages of pages (``take``). Produces: messages to all watchers. Agents decide in a thread, so that slow
    ones hold up no other table.
    """

    def __init__(self, table_id: str, game: SeatedGame) -> None:
        self.id = table_id
        self.session = game.session
        self.agents = game.agents
        self.game = game
        self._problem = ""
        """Why the game cannot go on."""
        self._watchers: set[Watcher] = set()
        self._play: asyncio.Task[None] | None = None
        self._in_order = asyncio.Lock()
        """Messages of pages are followed in the order in which they came."""
        self._hint_thread: asyncio.Future[dict[str, Any]] | None = None
        self._view = self._new_view()
        self._is_shown = True
        """The last message was a view, and nothing has happened since."""
        self._start()

    @property
    def is_watched(self) -> bool:
        """Tell whether a page shows this table."""
        return bool(self._watchers)

    @property
    def is_over(self) -> bool:
        """Tell whether nothing can happen at this table any more."""
        return self.session.is_over or bool(self._problem)

    def watch(self, watcher: Watcher) -> None:
        """Send the present view to ``watcher``, and everything that happens from now on."""
        self._watchers.add(watcher)
        watcher(self._view)

    def unwatch(self, watcher: Watcher) -> None:
        """Send nothing more to ``watcher``."""
        self._watchers.discard(watcher)

    async def take(self, message: ClientMessage, watcher: Watcher) -> None:
        """Follow a message of a page; a move that is not possible now is refused and changes nothing."""
        try:
            async with self._in_order:
                while self._play is not None and not self._play.done():  # until the game so far is saved
                    if self.session.is_agents_turn:
                        raise ValueError("it is not your turn: wait for the other players")
                    await asyncio.wait({self._play})  # unlike `await self._play`, a page that leaves does not cancel it
                if self._problem:
                    raise ValueError(f"this game cannot go on: {self._problem}")
                if message.type != "hint":
                    if self._hint_thread is not None and self.agents.follows_game:
                        await asyncio.wait({self._hint_thread})  # the agent reads what has happened so far
                    if message.type == "move":
                        self._show_steps(self.session.move(message.number, message.action, message.discard))
                    else:
                        self.session.next_deal(message.number)
                        self._show_view()
                    self._start()
                    return
                if not self.agents.has_hints:
                    raise ValueError("this agent sees hidden tiles: its hints would reveal them")
                tables = self.session.decision(message.number)
                thread = asyncio.ensure_future(asyncio.to_thread(self.game.hint, message.number, tables))
                self._hint_thread = thread
            try:
                hint = await asyncio.shield(thread)  # a page that leaves does not end the thread
            except AGENT_ERRORS as error:
                hint = {"reason": reason_of(error)}
            watcher({"type": "hint", "number": message.number, **hint})
        except ValueError as error:
            watcher({"type": "refused", "reason": str(error)})

    async def close(self) -> None:
        """Stop playing; the game can go on in another command."""
        if self._play is not None:
            self._play.cancel()
            await asyncio.gather(self._play, return_exceptions=True)
        self.game.close()

    def _start(self) -> None:
        self._play = asyncio.create_task(self._play_agents())

    async def _play_agents(self) -> None:
        """Play until the person has to decide, or the deal or the game has ended; save before and after that."""
        try:
            if not self.session.is_over:
                await asyncio.to_thread(self.game.keep)  # slow agents may still think when the command is stopped
            while self.session.is_agents_turn:
                self._show_steps(await asyncio.to_thread(self.session.play_agent))
            await asyncio.to_thread(self.game.keep)
        except AGENT_ERRORS as error:
            self._problem = reason_of(error)
            self._is_shown = False
        if not self._is_shown or self.game.save_problem != self._view["save_problem"]:
            self._show_view()

    def _show_steps(self, steps: list[Message]) -> None:
        self._is_shown = False
        if not steps:
            return
        changes = {key: value for step in steps for key, value in step["changes"].items()}
        number, state = self.session.number, {**self._view["state"], **changes}
        self._view = {**self._view, "number": number, "moves": [], "state": state}
        self._send({"type": "steps", "number": number, "steps": steps})

    def _show_view(self) -> None:
        self._view = self._new_view()
        self._is_shown = True
        self._send(self._view)

    def _new_view(self) -> Message:
        return {
            "type": "view",
            "table": self.id,
            "agent": self.agents.name,
            "has_hints": self.agents.has_hints,
            "record": None if self.game.record is None else str(self.game.record),
            "problem": self._problem,
            "save_problem": self.game.save_problem,
            **self.session.view(),
        }

    def _send(self, message: Message) -> None:
        for watcher in tuple(self._watchers):
            watcher(message)


MAX_TABLES = 16


class PlayTables:
    """Makes tables and finds them by id."""

    def __init__(self, config: PlayConfig, agents: Agents) -> None:
        self._config = config
        self._agents = agents
        self._tables: dict[str, PlayTable] = {}
        self._num_games = 0
        self._continued: Iterator[SeatedGame] | None = None

    def find(self, table_id: str) -> PlayTable | None:
        """Return the table of this id, None if there is none."""
        return self._tables.get(table_id)

    def sit(self, table_id: str | None) -> PlayTable:
        """Return the table of this id; else one where a game is running and nobody watches; else a new one.

        Games that an earlier command did not finish go on first.
        """
        table = self._tables.get(table_id or "")
        if table is not None:
            return table
        left = [each for each in self._tables.values() if not each.is_watched and not each.is_over]
        if left:
            return left[-1]
        if self._continued is None:
            self._continued = continued_games(self._config, self._agents)
        game = next(self._continued, None) if len(self._tables) < MAX_TABLES else None
        if game is None:
            return self.new_table()
        # with a seed, the next new game has the next walls
        self._num_games = max(self._num_games, game.settings.game + 1)
        return self._add(game)

    def new_table(self) -> PlayTable:
        """Return a table at which a new game begins; ValueError if there are too many games."""
        if len(self._tables) >= MAX_TABLES:  # the oldest one whose game is over and that nobody watches is forgotten
            unused = (table for table in self._tables.values() if table.is_over and not table.is_watched)
            if (oldest := next(unused, None)) is None:
                raise ValueError(f"there are already {MAX_TABLES} games: finish one of them, or restart the command")
            oldest.game.close()
            del self._tables[oldest.id]
        game = SeatedGame.new(self._config, self._agents, self._num_games)
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


SHARED_SCRIPTS = ("opinion", "settings")
"""Those for any game, beside ``dom`` and ``words``."""
SCRIPTS = ("hand", "moves", "panels", "pace", "socket", "controls", "main")
"""The page's own, beside ``seat``, which has the place of the viewer's ``game``."""


def play_page(*, host: str, language: str | None = None) -> str:
    """Return the page for a server at ``host`` (name and port); ``language`` at first, None for the browser's."""
    view = VIEWS[GAME]
    first = [shared_script("dom"), shared_script("words"), page_file(PLAY, "script/seat.js")]
    shared = [*map(view.script, view.scripts), *map(shared_script, SHARED_SCRIPTS)]
    return filled_page(
        "play",
        "suphx play",
        scripts=[*first, *shared, *(page_file(PLAY, f"script/{name}.js") for name in SCRIPTS)],
        style=view.style() + page_file(PLAY, "play.css"),
        symbols=view.symbols(),
        values={"words": view.play_words(), "language": language},
        more=f"connect-src ws://{host}; img-src data:",
    )


HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_MAX_WAITING = 2000
"""Messages that a page has not read yet; one that is so far behind is disconnected."""


def play_app(tables: PlayTables, language: str | None = None) -> Starlette:
    """Return the ASGI application for the tables of one command; ``language``: of the page at first."""

    async def show_page(request: Request) -> Response:
        page = play_page(host=request.headers["host"], language=language)
        return HTMLResponse(page, headers=HEADERS)

    async def show_finished(request: Request) -> Response:
        table = tables.find(request.path_params["table"])
        if table is None or not table.session.is_over:
            return PlainTextResponse("There is no finished game of this name.\n", status_code=404, headers=HEADERS)
        return HTMLResponse(await asyncio.to_thread(table.game.finished_page), headers=HEADERS)

    async def connect(socket: WebSocket) -> None:
        await socket.accept()
        await PlayConnection(socket, tables).run()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await tables.close()

    routes = [Route("/", show_page), Route("/game/{table}", show_finished), WebSocketRoute("/play", connect)]
    return Starlette(routes=routes, lifespan=lifespan)


class PlayConnection:
    """One page: consumes its messages, and sends what happens at its table."""

    def __init__(self, socket: WebSocket, tables: PlayTables) -> None:
        self._socket = socket
        self._tables = tables
        self._table: PlayTable | None = None
        self._waiting: asyncio.Queue[Message] = asyncio.Queue(_MAX_WAITING)
        self._hints: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Serve the page until it goes away."""
        writer = asyncio.create_task(self._write())
        try:
            while not writer.done():
                frame = await self._socket.receive()
                if frame["type"] == "websocket.disconnect":
                    return
                await self._take(frame.get("text") or "")  # a binary frame is not a message of a page
        finally:
            pending = {writer, *self._hints}
            self._leave()
            writer.cancel()
            await asyncio.gather(*pending, return_exceptions=True)

    async def _write(self) -> None:
        with suppress(WebSocketDisconnect, RuntimeError):  # the page is gone, and ``run`` will notice
            while True:
                await self._socket.send_json(await self._waiting.get())
                await asyncio.sleep(0)  # a page that has gone away is noticed here

    def _send(self, message: Message) -> None:
        try:
            self._waiting.put_nowait(message)
        except asyncio.QueueFull:
            self._leave()

    async def _take(self, text: str) -> None:
        try:
            message = read_message(text)
            if message.type in ("sit", "new") or self._table is None:
                table = self._tables.new_table() if message.type == "new" else self._tables.sit(message.table)
                self._leave()
                self._table = table
                table.watch(self._send)
            elif message.type == "hint":  # meanwhile the person may move or leave
                task = asyncio.create_task(self._table.take(message, self._send))
                self._hints.add(task)
                task.add_done_callback(self._hints.discard)
                await asyncio.sleep(0)  # it comes before a message that arrived right after it
            else:
                await self._table.take(message, self._send)
        except AGENT_ERRORS as error:  # a wrong message, or an agent of a new table that cannot be loaded
            self._send({"type": "refused", "reason": reason_of(error)})

    def _leave(self) -> None:
        for task in self._hints:
            task.cancel()
        if self._table is not None:
            self._table.unwatch(self._send)
            self._table = None


def play_at_table(
    config: PlayConfig,
    runs: Path,
    console: Console,
    *,
    port: int,
    language: str | None,
    in_terminal: bool,
    show: Callable[[str], None],
) -> dict[str, object] | None:
    """Play until the game is over (terminal), or serve the page until Ctrl-C.

    ``runs``: where nets that are elsewhere are looked up. ``show``: gets the link of the page.
    """
    with TemporaryDirectory(prefix="suphx-agent-") as space:
        with console.activity("loading the agent"):
            address = AgentSource(MlflowStore(runs)).fetch(config.agent, Path(space) / "agent", GAME)
            agents = Agents(config.agent, lambda _: load_any_agent(address, GAME))
        compile_kernels(console, "engine", "replay", "encoder", "scripted games", "net games")
        if in_terminal:
            return play_in_terminal(config, agents, language or "en")
        with LocalServer(play_app(PlayTables(config, agents), language), port=port) as server:
            console.result({"url": server.link()})
            console.say("The link contains a secret: do not share it. Press Ctrl-C to stop.")
            show(server.link())
            server.serve()
    return None
