"""What a terminal shows of a game: the view of a session as lines of text, in the words of the page.

Tiles are written as players write them: ``1m`` to ``9m``, ``p`` and ``s``, ``0m`` for a red five; ``1z`` to ``4z`` for
the winds from East on, ``5z`` to ``7z`` for the white, the green and the red dragon.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.text import Text

from suphx.games.riichi import CALLED_FLAG, RIICHI_FLAG, TSUMOGIRI_FLAG, face_name, has_namesake
from suphx_pipelines.riichi_play.play_page import play_words

_FLAG_STEP = 64  # above all faces
_SUIT_STYLES = {"m": "red", "p": "blue", "s": "green", "z": "bold"}
_NAME_WIDTH = 18
_NAME_IN_DEAL_WIDTH = 26
_QUIET_STEPS = ("draw", "end")


class TerminalText:
    """Turns views and steps into text."""

    def __init__(self, language: str) -> None:
        """``language``: one of those of the page."""
        words = play_words()
        self._words: Mapping[str, str] = {**words["en"]["words"], **words[language]["words"]}
        self._yaku: Mapping[str, str] = words[language]["yaku"]

    def word(self, key: str, **values: object) -> str:
        """Return a word or sentence with its places filled."""
        return re.sub(r"\{(\w+)\}", lambda found: str(values[found[1]]), self._words.get(key, key))

    def table(self, view: Mapping[str, Any]) -> list[Text]:
        """Return the lines of the whole table; the person's seat is the last one."""
        state, deal, own = view["state"], view["deal"], view["seat"]
        counts = f"{self.word('sticks_title')} {state['sticks']}, {self.word('left_title')} {state['left']}"
        first = Text.assemble(
            "\n", (self.deal_name(deal), "bold"), f"   {self.word('dora_indicators')} ", tiles(state["dora"])
        )
        lines = [first.append(f"   {counts}")]
        for turn in range(1, 5):
            lines += self._seat(view, (own + turn) % 4)
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
            lines += self._win(win, names)
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

    def _seat(self, view: Mapping[str, Any], seat: int) -> list[Text]:
        state = view["state"]
        wind = self.word(f"wind_short{(seat - view['deal']['dealer']) % 4}")
        line = Text(f"  {wind} {view['names'][seat]:{_NAME_WIDTH}} {state['scores'][seat]:>8,} ")
        if state["riichi"][seat]:
            line.append(f" {self.word('riichi')} ", "reverse")
        line.append(" ").append(_river(state[f"river{seat}"]))
        lines = [line]
        hand = (
            Text("      ").append(tiles(state[f"hand{seat}"]))
            if seat == view["seat"] or seat in state["open"]
            else None
        )
        for owner, face in state["drawn"]:
            if hand is not None and owner == seat:
                hand.append("   ").append(tiles([face]))
        melds = [meld["faces"] for meld in state[f"melds{seat}"]]
        if hand is not None or melds:
            full = hand or Text("     ")
            for faces in melds:
                full.append("  [").append(tiles(faces)).append("]")
            lines.append(full)
        return lines

    def _win(self, win: Mapping[str, Any], names: Sequence[str]) -> list[Text]:
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
        return [title.append(tiles([win["face"]])), Text(f"  {value} · {points}: {', '.join(yaku)}")]


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
