"""MCR in plain Python, written from the rules alone: tiles and moves are texts, no kernel is used.

A game is a generator that continues from question to question, in the order of time. What a hand is worth is asked of
``worth``, as fans have a twin of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field

TILES = [f"{suit}{rank}" for suit in "WTB" for rank in range(1, 10)] + ["F1", "F2", "F3", "F4", "J1", "J2", "J3"]
Question = tuple[int, set[str]]
Course = Generator[Question, str, None]
Worth = Callable[[int, list[str], list[tuple[str, ...]], str, set[str]], int]
"""Of a seat: the fan of its concealed tiles without the winning one, its melds, that tile, and the circumstances."""


@dataclass
class SlowGame:
    """One game: ``seat`` is asked for one of the moves ``legal``, until it is over (``seat`` is None).

    ``walls``: the tiles of each seat in the order in which it takes them. A meld begins with ``open`` or ``closed``.
    """

    walls: list[list[str]]
    worth: Worth
    minimum: int = 8
    hands: list[list[str]] = field(default_factory=list)
    melds: list[list[tuple[str, ...]]] = field(default_factory=lambda: [[] for _ in range(4)])
    discards: list[list[str]] = field(default_factory=lambda: [[] for _ in range(4)])
    claimed: list[str] = field(default_factory=list)
    scores: list[int] = field(default_factory=lambda: [0] * 4)
    winner: int | None = None
    seat: int | None = None
    legal: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.hands = [[wall.pop(0) for _ in range(13)] for wall in self.walls]
        self._course = self._play()
        self._go_on(None)

    def move(self, text: str) -> None:
        """Answer the question."""
        assert text in self.legal
        self._go_on(text)

    def _go_on(self, answer: str | None) -> None:
        try:
            self.seat, self.legal = next(self._course) if answer is None else self._course.send(answer)
        except StopIteration:
            self.seat, self.legal = None, set()

    def _play(self) -> Course:
        seat, how = 0, "draws"
        while self.winner is None:
            if how == "claimed":
                tile = yield seat, set(self.hands[seat])
            elif not self.walls[seat]:
                return
            else:
                drawn = self.walls[seat].pop(0)
                move = yield seat, self._own_moves(seat, drawn, how)
                if move == "win":
                    self._win(seat, None, self._fan(seat, drawn, self._drawn_circumstances(seat, drawn, how)))
                    return
                self.hands[seat].append(drawn)
                if move.startswith("kong"):
                    yield from self._own_kong(seat, move[-2:])
                    how = "kong"
                    continue
                tile = move
            self.hands[seat].remove(tile)
            seat, how = yield from self._claims(seat, tile)

    def _visible(self, tile: str) -> int:
        """Return how many tiles of a kind all seats see."""
        rivers = [each for river in self.discards for each in river]
        for each in self.claimed:
            rivers.remove(each)
        melds = [each for melds in self.melds for how, *tiles in melds if how == "open" for each in tiles]
        return rivers.count(tile) + melds.count(tile)

    def _drawn_circumstances(self, seat: int, tile: str, how: str) -> set[str]:
        found = {"self-drawn"} | ({"kong"} if how == "kong" else set())
        return found | self._common_circumstances(seat, self._visible(tile))

    def _common_circumstances(self, turn: int, visible: int) -> set[str]:
        last = {"last"} if not self.walls[(turn + 1) % 4] else set()
        return last | ({"last of kind"} if visible == 3 else set())

    def _fan(self, seat: int, tile: str, circumstances: set[str]) -> int:
        return self.worth(seat, self.hands[seat], self.melds[seat], tile, circumstances)

    def _can_win(self, seat: int, tile: str, circumstances: set[str]) -> bool:
        fan = self._fan(seat, tile, circumstances)
        return fan > 0 and fan >= self.minimum

    def _own_moves(self, seat: int, drawn: str, how: str) -> set[str]:
        hand = [*self.hands[seat], drawn]
        moves = set(hand)
        if self._can_win(seat, drawn, self._drawn_circumstances(seat, drawn, how)):
            moves.add("win")
        if self.walls[seat] and self.walls[(seat + 1) % 4]:
            moves |= {f"kong {tile}" for tile in hand if hand.count(tile) == 4}
            moves |= {f"kong {tile}" for tile in hand if ("open", tile, tile, tile) in self.melds[seat]}
        return moves

    def _own_kong(self, seat: int, tile: str) -> Generator[Question, str, None]:
        hand, melds = self.hands[seat], self.melds[seat]
        if hand.count(tile) == 4:
            self.hands[seat] = [each for each in hand if each != tile]
            melds.append(("closed", *[tile] * 4))
            return
        hand.remove(tile)
        melds[melds.index(("open", tile, tile, tile))] = ("open", *[tile] * 4)
        robbers = []
        for other in others(seat):
            if self._can_win(other, tile, {"kong"}) and (yield other, {"win", "pass"}) == "win":
                robbers.append(other)
        if robbers:
            self._win(robbers[0], seat, self._fan(robbers[0], tile, {"kong"}))

    def _claims(self, seat: int, tile: str) -> Generator[Question, str, tuple[int, str]]:
        """Return whose turn is next, and whether that seat draws, has claimed, or replaces a kong."""
        how = self._common_circumstances(seat, self._visible(tile))
        answers = {}
        for other in others(seat):
            moves = {"win"} if self._can_win(other, tile, how) else set()
            if self.walls[(seat + 1) % 4]:
                moves |= self._meld_moves(other, tile, is_next=other == (seat + 1) % 4)
            answers[other] = (yield other, {*moves, "pass"}) if moves else "pass"
        self.discards[seat].append(tile)
        for other, answer in answers.items():
            if answer == "win":
                self.discards[seat].pop()
                self._win(other, seat, self._fan(other, tile, how))
                return other, ""
        for word in ("kong", "pung", "chow"):
            for other, answer in answers.items():
                if answer.startswith(word):
                    own = [tile] * (3 if word == "kong" else 2)
                    if word == "chow":
                        own = [each for each in run(answer[-2:]) if each != tile]
                    for each in own:
                        self.hands[other].remove(each)
                    self.claimed.append(tile)
                    self.melds[other].append(("open", *sorted([*own, tile])))
                    return other, "kong" if word == "kong" else "claimed"
        return (seat + 1) % 4, "draws"

    def _meld_moves(self, seat: int, tile: str, *, is_next: bool) -> set[str]:
        hand, moves = self.hands[seat], set()
        if hand.count(tile) == 3:
            moves.add(f"kong {tile}")
        if hand.count(tile) >= 2:
            moves.add("pung")
        for middle in TILES:
            around = run(middle)
            if is_next and tile in around and all(each in hand for each in around if each != tile):
                moves.add(f"chow {middle}")
        return moves

    def _win(self, seat: int, loser: int | None, fan: int) -> None:
        self.winner = seat
        for other in others(seat):
            pays = 8 + fan if loser in (None, other) else 8
            self.scores[other] -= pays
            self.scores[seat] += pays


def run(middle: str) -> list[str]:
    """Return the chow around a tile; nothing if there is none."""
    tiles = [f"{middle[0]}{int(middle[1]) + step}" for step in (-1, 0, 1)]
    return tiles if middle[0] in "WTB" and set(tiles) <= set(TILES) else []


def others(seat: int) -> list[int]:
    """Return the other seats in the order of turns."""
    return [(seat + step) % 4 for step in (1, 2, 3)]
