"""A hand as people read and type it, of games whose whole state is one record: in the terminal, and on the page.

Besides the fields of viewer.py the records have ``phase``, ``claimed``, ``legal``, ``win_kind`` and ``loser``; -1 is no
tile and no seat.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from suphx.games.mahjong.tile import ANKAN_MELD, NUM_KINDS, add_meld
from suphx.games.mahjong.viewer import State, shown_steps
from suphx.kernel.record import Records

NOBODY = NO_KIND = -1


class HandText(ABC):
    """The game in the terminal (``PlainText`` of games/game.py) and on the page."""

    game: ClassVar[str]
    word: ClassVar[str]
    """What a record is called: hand or game."""
    help: tuple[str, ...]
    seat_names: ClassVar[tuple[str, ...]]
    tile_names: ClassVar[Sequence[str]]
    """By kind."""
    moves: ClassVar[Mapping[str, int]]
    """Every move by its text."""
    claim_phases: ClassVar[tuple[int, int]]
    """In which a discard can be claimed, and a tile that was added to a pung."""
    ended_phase: ClassVar[int]
    scores: ClassVar[str]
    """The field with what each seat has won or lost."""
    hides_kongs: ClassVar[bool] = False
    """Others see of a concealed kong only that it is there."""

    @abstractmethod
    def text_of_move(self, move: int) -> str:
        """Return a move as people write it."""

    @abstractmethod
    def positions(self, record: Any) -> Records:
        """Return the hand before each move of a record, and after the last one; ValueError for an illegal move."""

    @abstractmethod
    def tiles_text(self, counts: np.typing.NDArray[np.integer]) -> str:
        """Return counts by kind as text."""

    @abstractmethod
    def about(self, table: Any) -> str:
        """Return what all know of a hand, in a line."""

    @abstractmethod
    def about_seat(self, table: Any, seat: int) -> tuple[list[str], list[str]]:
        """Return what all know of a seat, before its melds and after its discards."""

    @abstractmethod
    def winners(self, table: Any) -> list[tuple[int, int, list[str]]]:
        """Return seat, fan, and the names of the fans, of all that have won."""

    @abstractmethod
    def told(self, move: int) -> tuple[str, int] | None:
        """Return kind and tile of a move that is a step of its own, as ``shown_steps`` takes it."""

    @abstractmethod
    def about_deal(self, record: Any) -> dict[str, Any]:
        """Return what the page shows of a record beside its steps and its end."""

    def river(self, table: Any, seat: int) -> list[int]:
        """Return the discards of a seat that lie before it."""
        river: list[int] = table["river"][seat, : table["num_discards"][seat]].tolist()
        return river

    def more(self, table: Any) -> State:
        """Return what the page shows of a table in this game only."""
        return {}

    def ending(self, table: Any) -> tuple[str, str]:
        """Return how a hand without a winner ended, for the page and as people say it."""
        return ("empty wall", "draw: no tile is left") if self._is_over(table) else ("not finished", "not finished")

    def move_text(self, rules: Any, move: int) -> str:
        """Return a move as people write it."""
        return self.text_of_move(move)

    def read_move(self, rules: Any, text: str) -> int:
        """Return the move that a person typed, in any case; ValueError for another text."""
        typed = " ".join(text.lower().split())
        move = next((move for name, move in self.moves.items() if name.lower() == typed), None)
        if move is None:
            raise ValueError(f"{text!r} is not a move: type one of those in the list")
        return move

    def seat_lines(self, tables: Any, index: int, seat: int) -> list[str]:
        """Return what a seat sees at a table, as lines of text: nothing that is hidden from it."""
        t = tables.state[index]
        lines = [self.about(t)]
        for other, name in enumerate(self.seat_names):
            before, after = self.about_seat(t, other)
            parts = [f"{name}{' (you)' if other == seat else ''}:", *before]
            parts += self._melds(t, other, is_own=other == seat)
            river = [self.tile_names[kind] for kind in self.river(t, other)]
            lines.append(" ".join([*parts, "discards", *river, *after]))
        phase, drawn = int(t["phase"]), ""
        if phase in self.claim_phases:
            what = "discards" if phase == self.claim_phases[0] else "adds to a pung"
            lines.append(f"{self.seat_names[t['turn']]} {what} {self.tile_names[t['claimed']]}")
        elif t["drawn"] != NO_KIND and t["turn"] == seat:
            drawn = f", drawn {self.tile_names[t['drawn']]}"
        lines.append(f"Your hand: {self.tiles_text(t['hand'][seat])}{drawn}")
        if not self._is_over(t) and t["actor"] == seat:
            moves = (self.text_of_move(int(move)) for move in np.flatnonzero(t["legal"]))
            lines.append("Your moves: " + ", ".join(moves))
        return lines

    def end_lines(self, tables: Any, index: int) -> list[str]:
        """Return how a hand ended, as lines of text."""
        t = tables.state[index]
        scores = zip(self.seat_names, t[self.scores].tolist(), strict=True)
        ends = [f"Scores: {', '.join(f'{name} {score:+d}' for name, score in scores)}"] if self._is_over(t) else []
        return [self._end_text(t), *ends]

    def viewer_game(self, records: Sequence[Any], opinions: Any = None, *, first: int = 1) -> dict[str, Any]:
        """Return recorded hands for the page; ValueError names the hand with an illegal move."""
        deals = []
        for number, record in enumerate(records, first):
            try:
                deals.append({"number": number, **self._deal(record)})
            except ValueError as error:
                raise ValueError(f"{self.word} {number}: {error}") from error
        return {"game": self.game, "names": list(self.seat_names), "agent": None, "deals": deals}

    def _is_over(self, table: Any) -> bool:
        return bool(table["phase"] == self.ended_phase)

    def _melds(self, table: Any, seat: int, *, is_own: bool) -> list[str]:
        """Return the melds of a seat as texts."""
        texts = []
        for place in range(table["num_melds"][seat]):
            meld_type, kind = int(table["meld_type"][seat, place]), int(table["meld_kind"][seat, place])
            counts = np.zeros(NUM_KINDS, np.int64)
            add_meld(counts, meld_type, kind, 1)
            is_hidden = self.hides_kongs and meld_type == ANKAN_MELD and not is_own
            texts.append("[concealed kong]" if is_hidden else f"[{self.tiles_text(counts)}]")
        return texts

    def _end_text(self, table: Any) -> str:
        won, loser = self.winners(table), int(table["loser"])
        if not won:
            return self.ending(table)[1]
        hands = []
        for seat, fan, _ in won:
            tiles = [self.tiles_text(table["hand"][seat]), *self._melds(table, seat, is_own=True)]
            hands.append(f"{self.seat_names[seat]} wins {fan} fan with {' '.join(tiles)}")
        how = "drawn" if loser == NOBODY else f"from {self.seat_names[loser]}"
        fans = "".join(f" ({', '.join(names)})" for *_, names in won if names)
        return f"{'; '.join(hands)}: {self.tile_names[table['win_kind']]}, {how}{fans}"

    def _deal(self, record: Any) -> dict[str, Any]:
        tables = self.positions(record)
        start, steps = shown_steps(tables, [self.told(move) for move in record.moves], self._state)
        last = tables[-1]
        face, loser = int(last["win_kind"]), int(last["loser"])
        wins = [
            {"seat": seat, "loser": seat if loser == NOBODY else loser, "face": face, "fan": fan, "fans": fans}
            for seat, fan, fans in self.winners(last)
        ]
        return {
            **self.about_deal(record),
            "players": list(record.players) or None,
            "start": start,
            "steps": steps,
            "result": {"kind": "win" if wins else self.ending(last)[0], "wins": wins},
            "after": last[self.scores].tolist(),
        }

    def _state(self, table: Any) -> State:
        won = [seat for seat, *_ in self.winners(table)]
        state = {"scores": table[self.scores].tolist(), "is_ended": self._is_over(table), "open": won}
        drawn = {"drawn": [[seat, int(table["win_kind"])] for seat in won]} if won else {}
        return {**state, **self.more(table), **drawn}
