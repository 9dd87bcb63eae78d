"""``suphx play --terminal``: one game in the terminal; the person types tiles and numbers."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console as Screen
from rich.text import Text

from suphx.games.riichi.records.decisions import has_namesake
from suphx.games.riichi.table import CALLED_FLAG, RIICHI_FLAG, TSUMOGIRI_FLAG
from suphx.games.riichi.tile import NUM_FACES, face_name
from suphx_pipelines.play.seated_game import AGENT_ERRORS, Agents, PlayConfig, SeatedGame, continued_games, reason_of
from suphx_pipelines.viewer.viewer_page import VIEWS
from suphx_platform.console.console import typed_line

_FLAG_STEP = 64  # above all faces
_SUIT_STYLES = {"m": "red", "p": "blue", "s": "green", "z": "bold"}
_NAME_WIDTH = 18
_NAME_IN_DEAL_WIDTH = 26
_QUIET_STEPS = ("draw", "end")


class TerminalText:
    """Turns views and steps into text."""

    def __init__(self, language: str) -> None:
        """``language``: one of those of the page."""
        words = VIEWS["riichi"].play_words()
        self._words: Mapping[str, str] = {**words["en"]["words"], **words[language]["words"]}
        self._yaku: Mapping[str, str] = words[language]["yaku"]

    def word(self, key: str, **values: object) -> str:
        """Return a word or sentence with its places filled."""
        return re.sub(r"\{(\w+)\}", lambda found: str(values[found[1]]), self._words.get(key, key))

    def table(self, view: Mapping[str, Any]) -> list[Text]:
        """Return the lines of the whole table; the person's seat is the last one."""
        state, deal, own = view["state"], view["deal"], view["seat"]
        counts = f"{self.word('sticks_title')} {state['sticks']}, {self.word('left_title')} {state['left']}"
        dora = f"   {self.word('dora_indicators')} "
        lines = [Text.assemble("\n", (self.deal_name(deal), "bold"), dora, tiles(state["dora"]), f"   {counts}")]
        for seat in ((own + turn) % 4 for turn in range(1, 5)):
            wind = self.word(f"wind_short{(seat - deal['dealer']) % 4}")
            line = Text(f"  {wind} {view['names'][seat]:{_NAME_WIDTH}} {state['scores'][seat]:>8,} ")
            if state["riichi"][seat]:
                line.append(f" {self.word('riichi')} ", "reverse")
            lines.append(line.append(" ").append(_river(state[f"river{seat}"])))
            is_shown, melds = seat == own or seat in state["open"], state[f"melds{seat}"]
            cards = Text("      " if is_shown else "     ")
            if is_shown:
                cards.append(tiles(state[f"hand{seat}"]))
                for face in (face for owner, face in state["drawn"] if owner == seat):
                    cards.append("   ").append(tiles([face]))
            for meld in melds:
                cards.append("  [").append(tiles(meld["faces"])).append("]")
            lines += [cards] if is_shown or melds else []
        return lines

    def deal_name(self, deal: Mapping[str, Any]) -> str:
        """Return such as ``East 1 · honba 1``."""
        name = self.word("deal_name", wind=self.word(f"wind{deal['kyoku'] // 4}"), number=deal["kyoku"] % 4 + 1)
        return f"{name} · {self.word('honba', count=deal['honba'])}" if deal["honba"] else name

    def seat_name(self, view: Mapping[str, Any], seat: int) -> str:
        """Return the name of a seat, with its wind if another seat has the same name."""
        name = view["names"][seat]
        if not has_namesake(view["names"], seat):
            return str(name)
        return self.word("name_in_deal", name=name, wind=self.word(f"wind{(seat - view['deal']['dealer']) % 4}"))

    def step(self, view: Mapping[str, Any], step: Mapping[str, Any]) -> Text | None:
        """Return what happened in a step, None for what needs no line: draws, and the end of the deal."""
        if step["kind"] in _QUIET_STEPS:
            return None
        name, faces = self.seat_name(view, step["seat"]), [face_name(face) for face in step["faces"]]
        tile = faces[0] if faces else ""
        return Text("  " + self.word(f"does {step['kind']}", name=name, tile=tile, tiles=" ".join(faces)))

    def moves(self, calls: Sequence[Mapping[str, Any]]) -> Text:
        """Return the moves that are not discards, each with the number that chooses it; 0 is a pass."""
        line = Text("  ")
        for key, move in numbered(calls):
            line.append(f"[{key}] ", "bold").append(self.word(move["move"]) + " ").append(tiles(move["faces"]))
            line.append("   ")
        return line

    def hint(self, hint: Mapping[str, Any]) -> list[Text]:
        """Return what the agent would do, and how probable each move is to it."""
        if hint["agent"] is None:
            return [Text("  " + self.word("no_action"))]
        is_barred = any(move["p"] is not None for move in hint["moves"])
        lines = []
        for index, move in enumerate(hint["moves"]):
            is_best = index == hint["agent"]
            if not (is_barred or is_best):
                continue
            chance = "" if move["p"] is None else f"{100 * move['p']:5.1f} %"
            line = Text(f"  {'→' if is_best else ' '} {chance:8} ", "bold" if is_best else "")
            lines.append(line.append(self.word(move["move"]) + " ").append(tiles(move["faces"])))
        return lines

    def result(self, view: Mapping[str, Any]) -> list[Text]:
        """Return how the deal ended; after the last one also the places."""
        deal, names = view["deal"], [self.seat_name(view, seat) for seat in range(4)]
        result = deal["result"]
        lines = [Text("")]
        for win in result["wins"]:
            key = "wins_tsumo" if win["seat"] == win["loser"] else "wins_ron"
            title = Text(self.word(key, name=names[win["seat"]], loser=names[win["loser"]]) + " ", "bold")
            value = self.word("han_fu", han=win["han"], fu=win["fu"])
            if win["yakuman"]:
                value = self.word("yakuman_count", count=win["yakuman"])
            elif win["limit"]:
                value += f" · {self.word(win['limit'])}"
            yaku = [self._yaku.get(name, name) for name in win["yaku"]]
            yaku += [f"{self.word(name)} {count}" for name, count in win["bonus"]]
            points = self.word("points", count=f"{win['points']:,}")
            lines += [title.append(tiles([win["face"]])), Text(f"  {value} · {points}: {', '.join(yaku)}")]
        if not result["wins"]:
            lines.append(Text(f"{self.deal_name(deal)}: {self.word('draw ' + result['kind'])}", "bold"))
        if result["ura"]:
            lines.append(Text(f"  {self.word('ura')} ").append(tiles(result["ura"])))
        if result["tenpai"]:
            tenpai = ", ".join(names[seat] for seat in result["tenpai"])
            lines.append(Text("  " + self.word("tenpai_seats", names=tenpai)))
        for seat, (before, after) in enumerate(zip(deal["scores"], deal["after"], strict=True)):
            lines.append(Text(f"  {names[seat]:{_NAME_IN_DEAL_WIDTH}} {after:>8,}  {after - before:+,}"))
        if view["is_over"]:
            order = sorted(range(4), key=lambda seat: view["placement"][seat])
            shown = "  ".join(f"{view['placement'][seat]}. {names[seat]} {view['final'][seat]:,}" for seat in order)
            lines.append(Text(self.word("final", order=shown), "bold"))
        return lines


def numbered(calls: Sequence[Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return each call with the text that chooses it."""
    return [("0" if move["move"] == "pass" else str(place), move) for place, move in enumerate(calls, 1)]


def tiles(faces: Iterable[int]) -> Text:
    """Return tiles side by side, in the colours of their suits."""
    line = Text()
    for face in faces:
        name = face_name(face) if face >= 0 else "??"
        line.append(f"{' ' if line else ''}{name}", _SUIT_STYLES.get(name[-1], "dim"))
    return line


def _river(numbers: Iterable[int]) -> Text:
    """Return discards: called ones in brackets, the riichi with a line on both sides, those as drawn dim."""
    line = Text()
    for number in numbers:
        flags, face = divmod(number, _FLAG_STEP)
        name = face_name(face)
        marked = f"|{name}|" if flags & RIICHI_FLAG else name
        shown = f"({marked})" if flags & CALLED_FLAG else marked
        style = _SUIT_STYLES[name[-1]] + (" dim" if flags & (TSUMOGIRI_FLAG | CALLED_FLAG) else "")
        line.append(shown, style).append(" ")
    return line


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
        self._text = text
        self._show = show
        self._read = read

    def play(self) -> None:
        """Play to the end; LeftGameError if the person leaves or the input ends."""
        session = self._session
        self._line("terminal_discard_help")
        while True:
            self._game.keep()  # slow agents may still think when the command is stopped
            while session.is_agents_turn:
                self._show_steps(session.play_agent())
            self._game.keep()
            if not session.is_persons_turn:
                self._show_all([*self._text.table(session.view()), *self._text.result(session.view())])
                if session.is_over:
                    return
                self._ask("terminal_next")
                session.next_deal(session.number)
            else:
                self._choose()

    def _choose(self) -> None:
        """Ask until the person has made a move."""
        view = self._session.view()
        self._show_all(self._text.table(view))
        moves, number = view["moves"], view["number"]
        calls = sorted((m for m in moves if m["move"] != "discard"), key=lambda m: _ORDER.index(m["move"]))
        discards = [move for move in moves if move["move"] == "discard"]
        is_claim = any(move["move"] == "pass" for move in calls)
        while True:
            if calls:
                self._show(self._text.moves(calls))
            typed = self._ask("terminal_claim" if is_claim else "terminal_discard")
            call = next((call for key, call in numbered(calls) if typed in _names(key, call["move"])), None)
            action, discard = None, None
            if typed == "h":
                self._show_hint(number)
            elif call is None:
                action = _discard(typed, discards)
                if action is None and typed == "d" and discards:
                    self._line("terminal_no_drawn")
                elif action is None and typed:
                    self._line("terminal_unknown", typed=typed)
            else:
                action = int(call["action"])
                if call["move"] == "riichi":
                    allowed = [move for move in moves if move["action"] in call["discards"]]
                    shown = sorted({move["faces"][0] for move in allowed})
                    self._show(Text(f"  {self._text.word('choose_riichi')}: ").append(tiles(shown)))
                    discard = _discard(self._ask("terminal_riichi"), allowed)
                    action = None if discard is None else action  # another tile takes the riichi back
            if action is not None:
                self._show_steps(self._session.move(number, action, discard))
                return

    def _show_hint(self, number: int) -> None:
        if not self._game.agents.has_hints:
            self._line("terminal_no_hints")
            return
        try:
            hint = self._game.hint(number, self._session.decision(number))
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
    config: PlayConfig, agents: Agents, language: str, read: Callable[[str], str] = typed_line
) -> dict[str, object]:
    """Play one game and save its record; return ``{"game", "final", "placement", "record"}``.

    A game that was left before goes on; one that is left now has None for what is not known yet.
    """
    screen = Screen(file=sys.stderr, highlight=False, soft_wrap=True)
    text = TerminalText(language)
    game = next(continued_games(config, agents), None) or SeatedGame.new(config, agents)
    session = game.session
    try:
        if session.actions:
            screen.print("  " + text.word("terminal_continued", game=session.id))
        TerminalGame(game, text, screen.print, read).play()
        record, view = game.record or game.finish(), session.view()
    except LeftGameError:
        if session.number:
            screen.print("  " + text.word("terminal_saved" if game.is_kept else "terminal_not_saved"))
        return {"game": session.id, "final": None, "placement": None, "record": None}
    finally:
        game.close()
    placement = view["placement"][config.seat]
    return {"game": session.id, "final": view["final"], "placement": placement, "record": str(record)}


def _discard(typed: str, discards: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the action that discards the tile that was typed, from the hand if it is there; ``d``: the one drawn."""
    if typed == "d":
        found = [move for move in discards if move["is_drawn"]]
    else:
        found = [move for move in discards if move["faces"][0] == _FACES.get(typed)]
    return int(min(found, key=lambda move: move["is_drawn"])["action"]) if found else None


def _names(key: str, move: str) -> tuple[str, ...]:
    """Return what may be typed for a call: its number, its name, or r for riichi."""
    return (key, move, "r") if move == "riichi" else (key, move)
