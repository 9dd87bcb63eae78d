"""A page without a browser: speaks to the play server over a real websocket, and chooses at random what is offered."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import Any, Self

import numpy as np
from websockets.sync.client import connect
from websockets.typing import Origin

from suphx_platform.local_web import LocalServer

_SECONDS = 60


class PageClient:
    """One connection of a page; ``view`` is the last view that came, ``messages`` are all."""

    def __init__(self, server: LocalServer, table: str | None = None) -> None:
        address = f"ws://127.0.0.1:{server.port}/play?token={server.token}"
        self._stack = ExitStack()
        origin = Origin(f"http://127.0.0.1:{server.port}")
        self._socket = self._stack.enter_context(connect(address, origin=origin))
        self.messages: list[dict[str, Any]] = []
        self.view: dict[str, Any] = {}
        self.send(type="sit", table=table)
        self.settle()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Go away."""
        self._stack.close()

    def send(self, **message: Any) -> None:
        """Send a message."""
        self._socket.send(json.dumps(message))

    def send_text(self, text: str | bytes) -> None:
        """Send anything."""
        self._socket.send(text)

    def receive(self) -> dict[str, Any]:
        """Return the next message."""
        message: dict[str, Any] = json.loads(self._socket.recv(timeout=_SECONDS))
        self.messages.append(message)
        if message["type"] == "view":
            self.view = message
        return message

    def settle(self) -> dict[str, Any]:
        """Wait for a view in which the person can do something, or the game is over, and return it."""
        while True:
            view = self.receive()
            is_end = view["type"] == "view" and (view["is_over"] or view["problem"])
            if is_end or (view["type"] == "view" and (view["moves"] or view["deal"]["result"])):
                return view

    def refusal(self) -> str:
        """Return the reason of the next message, which must refuse something."""
        message = self.receive()
        assert message["type"] == "refused", message
        return str(message["reason"])

    def play(self, rng: np.random.Generator) -> None:
        """Make one random move, or go to the next deal, and wait until something can be done again."""
        view = self.view
        if not view["moves"]:
            self.send(type="next", number=view["number"])
        else:
            move = view["moves"][int(rng.integers(len(view["moves"])))]
            extra = {"discard": move["discards"][0]} if move["discards"] else {}
            self.send(type="move", number=view["number"], action=move["action"], **extra)
        self.settle()
