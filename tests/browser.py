"""Drives Chromium as a person does: opens pages, clicks what is visible, reloads, takes pictures.

>>> with Browser() as browser:
...     page = browser.open("http://127.0.0.1:8000/", width=390, height=844)
...     page.wait("document.querySelector('#next')")
...     page.click("#next")

It speaks Chromium's DevTools protocol. An exception that a page does not catch ends the test: ``PageError``.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self
from urllib.request import Request, urlopen

import pytest
from websockets.sync.client import connect

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SCHEMES = ("dark", "light")
needs_chromium = pytest.mark.skipif(
    not any(map(shutil.which, PROGRAMS)), reason="no Chromium: run apt-get install chromium"
)
_SECONDS = 30.0
_PRESSES = 3
_OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"),
    "--remote-debugging-port=0",
)
# Where a person could press the element: its middle, unless something lies above it.
_PLACE = """(() => {
  const found = document.querySelector(%s);
  if (!found || found.disabled) return null;
  found.scrollIntoView({ block: "nearest" });
  const box = found.getBoundingClientRect(), x = box.left + box.width / 2, y = box.top + box.height / 2;
  const top = document.elementFromPoint(x, y);
  return top && found.contains(top) ? [x, y] : null;
})()"""


def find_chromium() -> str:
    """Return the path of Chromium; FileNotFoundError that says what to install if there is none."""
    for name in PROGRAMS:
        if path := shutil.which(name):
            return path
    raise FileNotFoundError(f"Chromium not found (looked for {', '.join(PROGRAMS)}): run apt-get install chromium")


class PageError(Exception):
    """A script of a page has thrown an exception that it does not catch."""


class Browser:
    """A Chromium without a window, with a profile of its own."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        command = [find_chromium(), *_OPTIONS, f"--user-data-dir={self._folder.name}", "about:blank"]
        self._process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "TMPDIR": self._folder.name},  # what Chromium leaves goes with it
        )
        self._port = self._find_port(Path(self._folder.name) / "DevToolsActivePort")
        self._pages: list[Page] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            for page in self._pages:
                if kind is None:
                    page.check()
                page.close()
        finally:
            self._process.terminate()
            self._process.wait(timeout=_SECONDS)
            self._folder.cleanup()

    def open(
        self,
        address: str,
        *,
        width: int = 1280,
        height: int = 800,
        scheme: str = "light",
        script: str = "",
        is_foreign: bool = False,
    ) -> Page:
        """Return a new page at ``address``; ``script`` runs before the page's own ones.

        ``is_foreign``: a page of another project, whose exceptions do not matter.
        """
        request = Request(f"http://127.0.0.1:{self._port}/json/new?about:blank", method="PUT")
        with urlopen(request, timeout=_SECONDS) as answer:
            target = json.load(answer)
        page = Page(target["webSocketDebuggerUrl"], is_foreign=is_foreign)
        self._pages.append(page)
        is_phone = width < 600
        page.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=is_phone
        )
        page.show_scheme(scheme)
        if script:
            page.call("Page.enable")
            page.call("Page.addScriptToEvaluateOnNewDocument", source=script)
        page.call("Page.navigate", url=address)
        return page

    def opened(self, part: str, press: Callable[[], bool], *, is_foreign: bool = False) -> Page:
        """Return the tab that ``press`` opens, by a part of its address; TimeoutError if there is none in time.

        ``is_foreign``: as for ``open``.

        A page that still loads may move below the mouse: it is pressed again after a while.
        """
        for _ in range(_PRESSES):
            press()
            end = time.monotonic() + _SECONDS
            while time.monotonic() < end:
                if address := self._tab(part):
                    self._pages.append(Page(address, is_foreign=is_foreign))
                    return self._pages[-1]
                time.sleep(0.05)
        raise TimeoutError(f"no tab with {part} in its address after {_PRESSES * _SECONDS:g} s")

    def _tab(self, part: str) -> str | None:
        """Return the address of the debugger of the first tab with ``part`` in its own address."""
        with urlopen(f"http://127.0.0.1:{self._port}/json/list", timeout=_SECONDS) as answer:
            tabs = [target for target in json.load(answer) if target["type"] == "page" and part in target["url"]]
        return tabs[0]["webSocketDebuggerUrl"] if tabs else None

    def _find_port(self, path: Path) -> int:
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end and self._process.poll() is None:
            if path.is_file() and "\n" in (text := path.read_text(encoding="utf-8")):
                return int(text.splitlines()[0])
            time.sleep(0.05)
        raise RuntimeError(f"Chromium did not start within {_SECONDS:g} s: start it by hand to see what is wrong")


class Page:
    """One tab."""

    def __init__(self, address: str, *, is_foreign: bool = False) -> None:
        self._stack = ExitStack()
        self._connection = self._stack.enter_context(connect(address, max_size=None))
        self._number = 0
        self._is_open = True
        if not is_foreign:
            self.call("Runtime.enable")  # sends exceptionThrown, also for what was thrown before

    def check(self) -> None:
        """Raise PageError if the page has thrown an exception since the last call."""
        if self._is_open:
            self.value("null")

    def close(self) -> None:
        """End the connection."""
        self._is_open = False
        self._stack.close()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its result; RuntimeError if it fails.

        PageError if the page has thrown an exception.
        """
        self._number += 1
        self._connection.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._connection.recv(timeout=_SECONDS))
            if message.get("method") == "Runtime.exceptionThrown":
                details = message["params"]["exceptionDetails"]
                raise PageError(details.get("exception", {}).get("description", details["text"]))
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                result: dict[str, Any] = message["result"]
                return result

    def value(self, expression: str) -> Any:
        """Return what a JavaScript expression gives; RuntimeError if it throws."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, expression: str, seconds: float = _SECONDS) -> Any:
        """Return the value of an expression as soon as it is true; TimeoutError after ``seconds``."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := self.value(expression):
                return value
            time.sleep(0.02)
        raise TimeoutError(f"still false after {seconds:g} s: {expression}; the page: {self.text()}")

    def text(self) -> str:
        """Return the text that the page shows."""
        return str(self.value("document.body.innerText"))

    def press_at(self, selector: str) -> None:
        """Press where the first element of a CSS selector is, whether or not it can be pressed."""
        found = f"document.querySelector({json.dumps(selector)}).getBoundingClientRect()"
        left, top, width, height = self.value(f"(({{x, y, width, height}}) => [x, y, width, height])({found})")
        self.press_place(left + width / 2, top + height / 2)

    def click(self, selector: str) -> bool:
        """Press the first element of a CSS selector where a person would; False if it cannot be pressed."""
        place = self.value(_PLACE % json.dumps(selector))
        if place is None:
            return False
        self.press_place(*place)
        return True

    def press_place(self, x: float, y: float) -> None:
        """Press the left button of the mouse at a place of the window."""
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def touch(self, *places: tuple[float, float]) -> None:
        """Put a finger down at the first of the places (x, y), move it over the others, and lift it."""
        for number, (x, y) in enumerate(places):
            kind = "touchMove" if number else "touchStart"
            self.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def turn_wheel(self, x: float, y: float, delta: float) -> None:
        """Turn the mouse wheel above a place by ``delta`` pixels, down if positive."""
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=delta)

    def press(self, key: str) -> None:
        """Press and release a key such as ``"ArrowRight"`` or ``"h"``."""
        text: dict[str, Any] = {"text": key} if len(key) == 1 else {}
        if key == "Enter":
            text = {"text": "\r", "windowsVirtualKeyCode": 13}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def choose(self, selector: str, option: str) -> None:
        """Choose an option of a select element."""
        place, value = json.dumps(selector), json.dumps(option)
        change = f"found.value = {value}; found.dispatchEvent(new Event('change'))"
        self.value(f"(() => {{ const found = document.querySelector({place}); {change}; }})()")

    def show_scheme(self, scheme: str) -> None:
        """Prefer light or dark colours."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def reload(self) -> None:
        """Load the page again."""
        self.call("Page.reload")

    def picture(self, path: Path, height: float | None = None) -> None:
        """Write a PNG of what is in view, or of so many pixels from the top of the page."""
        width = self.value("document.documentElement.clientWidth")
        clip = {"clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}} if height else {}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=bool(height), **clip)["data"]
        path.write_bytes(base64.b64decode(data))
