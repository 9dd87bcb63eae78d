"""The routes of the play server: the page, its websocket, and the viewer's page of a finished game.

| route | what |
|---|---|
| ``/`` | the page |
| ``/play`` | websocket: play_table.py to here, play_table.py to the page |
| ``/game/<table>`` | the finished game in the viewer |

Requests that are not allowed do not reach these routes (local_web.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from suphx_pipelines.riichi_play.play_page import play_page
from suphx_pipelines.riichi_play.play_table import ClientMessage, Message, PlayTable, PlayTables, read_message
from suphx_pipelines.riichi_play.seated_agents import AGENT_ERRORS, reason_of
from suphx_pipelines.riichi_play.seated_game import finished_page

HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_MAX_WAITING = 2000
"""Messages that a page has not read yet; one that is so far behind is disconnected."""


class PlayApp:
    """Makes the ASGI application for the tables of one command."""

    def __init__(self, tables: PlayTables, language: str | None = None) -> None:
        """``language``: of the page at first; None is the browser's."""
        self._tables = tables
        self._language = language

    def asgi(self) -> Starlette:
        """Return the application."""
        return Starlette(
            routes=[
                Route("/", self._page),
                Route("/game/{table}", self._finished),
                WebSocketRoute("/play", self._connect),
            ],
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await self._tables.close()

    async def _page(self, request: Request) -> Response:
        return HTMLResponse(play_page(host=request.headers["host"], language=self._language), headers=HEADERS)

    async def _finished(self, request: Request) -> Response:
        table = self._tables.find(request.path_params["table"])
        if table is None or not table.session.is_over:
            return PlainTextResponse("There is no finished game of this name.\n", status_code=404, headers=HEADERS)
        session = table.session
        page = await asyncio.to_thread(finished_page, session.log(), session.seat, table.agents)
        return HTMLResponse(page, headers=HEADERS)

    async def _connect(self, socket: WebSocket) -> None:
        await socket.accept()
        await PlayConnection(socket, self._tables).run()


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
                await self._take(frame.get("text") or "")  # a binary frame is no message of a page
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
                self._sit(message)
            elif message.type == "hint":  # meanwhile the person may move or leave
                task = asyncio.create_task(self._table.take(message, self._send))
                self._hints.add(task)
                task.add_done_callback(self._hints.discard)
                await asyncio.sleep(0)  # it comes before a message that arrived right after it
            else:
                await self._table.take(message, self._send)
        except AGENT_ERRORS as error:  # a wrong message, or an agent of a new table that cannot be loaded
            self._send({"type": "refused", "reason": reason_of(error)})

    def _sit(self, message: ClientMessage) -> None:
        """Go to another table."""
        table = self._tables.new_table() if message.type == "new" else self._tables.sit(message.table)
        self._leave()
        self._table = table
        table.watch(self._send)

    def _leave(self) -> None:
        for task in self._hints:
            task.cancel()
        if self._table is not None:
            self._table.unwatch(self._send)
            self._table = None
