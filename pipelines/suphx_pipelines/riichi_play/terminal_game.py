"""``suphx play --terminal``: one game in the terminal; the person types tiles and numbers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console as Screen
from rich.text import Text

from suphx.games.riichi import NUM_FACES, face_name
from suphx_pipelines.riichi_play.play_config import PlayConfig
from suphx_pipelines.riichi_play.seated_agents import AGENT_ERRORS, AgentLoader, reason_of
from suphx_pipelines.riichi_play.seated_game import SeatedGame, continued_games
from suphx_pipelines.riichi_play.terminal_text import TerminalText, numbered, tiles
from suphx_platform.console.console import typed_line

_FACES = {face_name(face): face for face in range(NUM_FACES)}
_ORDER = ("tsumo", "ron", "riichi", "ankan", "kakan", "minkan", "pon", "chi", "nine terminals", "pass")


class LeftGameError(Exception):
    """The person has left before the game was over."""


class TerminalGame:
    """Shows a game and asks the person for moves.

    Consumes: lines that the person types. Produces: lines on the screen. Waits for: ``read`` on the person's turn.
    """

    def __init__(
        self, game: SeatedGame, text: TerminalText, show: Callable[[Text], None], read: Callable[[str], str]
    ) -> None:
        """``show`` prints a line; ``read`` prints a prompt and returns what is typed, EOFError at the end of input."""
        self._game = game
        self._session = game.session
        self._agents = game.agents
        self._text = text
        self._show = show
        self._read = read

    def play(self) -> None:
        """Play to the end; LeftGameError if the person leaves or the input ends."""
        session = self._session
        self._line("terminal_discard_help")
        while True:
            self._keep()  # slow agents may still think when the command is stopped
            while session.is_agents_turn:
                self._show_steps(session.play_agent())
            self._keep()
            if not session.is_persons_turn:
                self._show_all([*self._text.table(session.view()), *self._text.result(session.view())])
                if session.is_over:
                    return
                self._ask("terminal_next")
                session.next_deal(session.number)
            else:
                self._choose()

    def _keep(self) -> None:
        """Save the moves so far, of a game that goes on."""
        if not self._session.is_over:
            self._game.keep()

    def _choose(self) -> None:
        """Ask until the person has made a move."""
        view = self._session.view()
        self._show_all(self._text.table(view))
        calls = sorted((m for m in view["moves"] if m["move"] != "discard"), key=lambda m: _ORDER.index(m["move"]))
        while True:
            if calls:
                self._show(self._text.moves(calls))
            typed = self._ask("terminal_claim" if _is_claim(calls) else "terminal_discard")
            if typed == "h":
                self._show_hint(view["number"])
                continue
            found = self._find(typed, view["moves"], calls)
            if found is not None:
                self._show_steps(self._session.move(view["number"], *found))
                return
            if any(_names(typed, key, move) for key, move in numbered(calls)):
                continue  # a riichi that was taken back
            if typed == "d" and any(move["move"] == "discard" for move in view["moves"]):
                self._line("terminal_no_drawn")
            elif typed:
                self._line("terminal_unknown", typed=typed)

    def _find(
        self, typed: str, moves: Sequence[Mapping[str, Any]], calls: Sequence[Mapping[str, Any]]
    ) -> tuple[int, int | None] | None:
        """Return the action that was typed, with the discard after a riichi; None for what is not offered."""
        for key, move in numbered(calls):
            if _names(typed, key, move):
                return self._riichi(move, moves) if move["move"] == "riichi" else (move["action"], None)
        action = _discard(typed, [move for move in moves if move["move"] == "discard"])
        return None if action is None else (action, None)

    def _riichi(self, riichi: Mapping[str, Any], moves: Sequence[Mapping[str, Any]]) -> tuple[int, int | None] | None:
        """Ask for the discard of a riichi; None if another tile is typed."""
        allowed = [move for move in moves if move["action"] in riichi["discards"]]
        shown = sorted({move["faces"][0] for move in allowed})
        self._show(Text(f"  {self._text.word('choose_riichi')}: ").append(tiles(shown)))
        action = _discard(self._ask("terminal_riichi"), allowed)
        return None if action is None else (int(riichi["action"]), action)

    def _show_hint(self, number: int) -> None:
        if not self._agents.has_hints:
            self._line("terminal_no_hints")
            return
        try:
            hint = self._agents.hint(number, self._session.decision(number))
        except AGENT_ERRORS as error:  # such as a program that has ended
            self._line("hint_failed", reason=reason_of(error))
        else:
            self._show_all(self._text.hint(hint))

    def _show_steps(self, steps: Sequence[Mapping[str, Any]]) -> None:
        view = self._session.view()
        self._show_all([line for step in steps if (line := self._text.step(view, step)) is not None])

    def _show_all(self, lines: Sequence[Text]) -> None:
        for line in lines:
            self._show(line)

    def _line(self, key: str, **values: object) -> None:
        self._show(Text("  " + self._text.word(key, **values)))

    def _ask(self, prompt: str) -> str:
        """Return what is typed at ``prompt``, a key of the words, in small letters; ``?`` shows its help first."""
        while True:
            try:
                typed = self._read(f"{self._text.word(prompt)} > ").strip().lower()
            except EOFError:
                raise LeftGameError from None
            if typed in ("q", "quit"):
                raise LeftGameError
            if typed != "?":
                return typed
            self._line(f"{prompt}_help")


def play_in_terminal(
    config: PlayConfig, loader: AgentLoader, language: str, read: Callable[[str], str] = typed_line
) -> dict[str, object]:
    """Play one game and save its record; return ``{"game", "final", "placement", "record"}``.

    A game that was left before goes on; one that is left now has None for what is not known yet.
    """
    screen = Screen(file=sys.stderr, highlight=False, soft_wrap=True)
    text = TerminalText(language)
    game = next(continued_games(config, loader), None) or SeatedGame.new(config, loader, 0)
    session = game.session
    try:
        if session.actions:
            screen.print("  " + text.word("terminal_continued", game=session.id))
        TerminalGame(game, text, screen.print, read).play()
        record, view = game.finish(), session.view()
    except LeftGameError:
        if session.number:
            screen.print("  " + text.word("terminal_saved" if game.is_kept else "terminal_not_saved"))
        return {"game": session.id, "final": None, "placement": None, "record": None}
    finally:
        game.close()
    placement = view["placement"][config.seat]
    return {"game": session.id, "final": view["final"], "placement": placement, "record": str(record)}


def _is_claim(calls: Sequence[Mapping[str, Any]]) -> bool:
    return any(move["move"] == "pass" for move in calls)


def _discard(typed: str, discards: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the action that discards the tile that was typed, from the hand if it is there; ``d``: the one drawn."""
    if typed == "d":
        found = [move for move in discards if move["is_drawn"]]
    else:
        found = [move for move in discards if move["faces"][0] == _FACES.get(typed)]
    return int(min(found, key=lambda move: move["is_drawn"])["action"]) if found else None


def _names(typed: str, key: str, move: Mapping[str, Any]) -> bool:
    """Tell whether what was typed names a call: by its key, its name, or r for riichi."""
    return typed in (key, move["move"]) or (typed == "r" and move["move"] == "riichi")
