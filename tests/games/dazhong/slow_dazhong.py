"""Dazhong in plain Python, written from the rules alone: tiles and moves are texts, no kernel is used.

A hand is a generator that continues from question to question, in the order of time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import cache

SUITS = "mps"
TILES = [f"{rank}{suit}" for suit in SUITS for rank in range(1, 10)]
Question = tuple[int, set[str]]
Course = Generator[Question, str, None]


@cache
def is_sets(tiles: tuple[str, ...]) -> bool:
    """Tell whether sorted tiles of a suit are triplets and runs."""
    if len(tiles) % 3:
        return False
    if not tiles:
        return True
    rank, suit = int(tiles[0][0]), tiles[0][1]
    groups = [Counter({tiles[0]: 3}), Counter(f"{rank + step}{suit}" for step in range(3))]
    counts = Counter(tiles)
    return any(group <= counts and is_sets(tuple(sorted((counts - group).elements()))) for group in groups)


def is_complete(tiles: list[str]) -> bool:
    """Tell whether concealed tiles win beside melds, of which nothing but their number of tiles tells."""
    return _is_complete(tuple(sorted(tiles)))


@cache
def _is_complete(tiles: tuple[str, ...]) -> bool:
    counts = Counter(tiles)
    if len(tiles) == 14 and all(count % 2 == 0 for count in counts.values()):
        return True
    if sorted(len(own) % 3 for own in by_suit(counts)) != [0, 0, 2]:
        return False
    return any(
        count >= 2 and all(is_sets(tuple(sorted(own))) for own in by_suit(counts - Counter({tile: 2})))
        for tile, count in counts.items()
    )


def by_suit(counts: Counter[str]) -> list[list[str]]:
    """Return the tiles of each suit."""
    return [[tile for tile in counts.elements() if tile[1] == suit] for suit in SUITS]


def waits(tiles: list[str]) -> set[str]:
    """Return the tiles that complete a hand; of which it has four itself, there is no fifth one."""
    return {tile for tile in TILES if tiles.count(tile) < 4 and is_complete([*tiles, tile])}


def is_triplets(tiles: list[str]) -> bool:
    """Tell whether tiles are triplets and a pair."""
    return sorted(Counter(tiles).values()) == [2, *[3] * (len(tiles) // 3)]


@dataclass
class SlowHand:
    """One hand: ``seat`` is asked for one of the moves ``legal``, until it is over (``seat`` is None)."""

    wall: list[str]
    dealer: int
    ting: str = "declared"
    several_winners: bool = True
    hands: list[list[str]] = field(default_factory=list)
    melds: list[list[tuple[str, ...]]] = field(default_factory=lambda: [[] for _ in range(4)])
    rivers: list[list[str]] = field(default_factory=lambda: [[] for _ in range(4)])
    ready: list[bool] = field(default_factory=lambda: [False] * 4)
    fan: list[int] = field(default_factory=lambda: [0] * 4)
    wins: dict[int, int] = field(default_factory=dict)
    loser: int | None = None
    seat: int | None = None
    legal: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.hands = [self.wall[13 * seat : 13 * seat + 13] for seat in range(4)]
        self.wall = self.wall[52:]
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
        if self.ting == "declared":
            for seat in others(self.dealer):
                if waits(self.hands[seat]) and (yield seat, {"ting", "pass"}) == "ting":
                    self._declare(seat)
        seat, claimed = self.dealer, ""
        while seat >= 0:
            seat, claimed = yield from self._turn(seat, claimed)

    def _turn(self, seat: int, claimed: str) -> Generator[Question, str, tuple[int, str]]:
        """Play a turn; return whose turn is next and what that seat has claimed for it ("" : it draws), -1 at the end.

        ``claimed``: such as ``pung 5m 2``, with the seat it came from.
        """
        hand, drawn = self.hands[seat], ""
        while True:
            if not claimed:
                if self.ting == "paper":
                    self.ready = [bool(waits(own)) for own in self.hands]
                if not self.wall:
                    return -1, ""
                drawn = self.wall.pop(0)
                hand.append(drawn)
            move = yield seat, self._own_moves(seat, drawn, claimed)
            if move == "win":
                self.loser = None
                self.wins[seat] = self._worth(seat, hand)
                self._collect(seat, self.wins[seat])
                return -1, ""
            if not move.startswith("kong"):
                break
            if not (yield from self._own_kong(seat, move[-2:], claimed)):
                return -1, ""
            claimed = ""
        tile = move[-2:]
        if move.startswith("ting"):
            self._declare(seat)
        hand.remove(tile)
        if claimed[:6] == f"chow{tile}":
            self._pay(seat, int(claimed[-1]), 1)
        return (yield from self._claims(seat, tile))

    def _own_moves(self, seat: int, drawn: str, claimed: str) -> set[str]:
        hand, melds = self.hands[seat], self.melds[seat]
        moves = set()
        if claimed.startswith("pung") and claimed[4:6] in hand and self.wall:
            moves.add(f"kong {claimed[4:6]}")
        if not claimed:
            if is_complete(hand):
                moves.add("win")
            before = sorted(hand)
            before.remove(drawn)
            for tile in set(hand) if self.wall else ():
                is_added = (tile,) * 3 in melds
                after = [each for each in hand if each != tile] if not is_added else remove(hand, tile)
                may = not self._is_declared(seat) or waits(after) == waits(before)
                if may and (is_added or hand.count(tile) == 4):
                    moves.add(f"kong {tile}")
        if self.ready[seat]:
            return {*moves, drawn}
        moves |= set(hand)
        if self.ting == "declared":
            moves |= {f"ting {tile}" for tile in set(hand) if waits(remove(hand, tile))}
        return moves

    def _is_declared(self, seat: int) -> bool:
        return self.ting == "declared" and self.ready[seat]

    def _own_kong(self, seat: int, tile: str, claimed: str) -> Generator[Question, str, bool]:
        """Return whether the hand continues."""
        hand, melds = self.hands[seat], self.melds[seat]
        if hand.count(tile) == 4:
            self.hands[seat][:] = [each for each in hand if each != tile]
            melds.append((tile,) * 4)
            self._collect(seat, 3)
            return True
        hand.remove(tile)
        melds[melds.index((tile,) * 3)] = (tile,) * 4
        if claimed:
            self._pay(int(claimed[-1]), seat, 2)
            return True
        robbers = []
        for other in others(seat):
            if is_complete([*self.hands[other], tile]) and (yield other, {"win", "pass"}) == "win":
                robbers.append(other)
        if robbers:
            self._win_from(seat, tile, robbers)
            return False
        self._collect(seat, 1)
        return True

    def _claims(self, seat: int, tile: str) -> Generator[Question, str, tuple[int, str]]:
        answers = {}
        self.rivers[seat].append(tile)
        for other in others(seat):
            moves = self._claim_moves(other, tile, is_next=other == (seat + 1) % 4)
            answers[other] = (yield other, {*moves, "pass"}) if moves else "pass"
        winners = [other for other, answer in answers.items() if answer == "win"]
        if winners:
            self._win_from(seat, tile, winners)
            return -1, ""
        for word, fan, number in (("kong", 4, 3), ("pung", 2, 2), ("chow", 1, 2)):
            for other, answer in answers.items():
                if answer.startswith(word):
                    self.rivers[seat].pop()
                    own = [tile] * number
                    if word == "chow":
                        own = [f"{rank}{tile[1]}" for rank in answer[5:8] if rank != tile[0]]
                    for each in own:
                        self.hands[other].remove(each)
                    self.melds[other].append(tuple(sorted([*own, tile])))
                    self._pay(seat, other, fan)
                    return other, "" if word == "kong" else f"{word}{tile}{seat}"
        return (seat + 1) % 4, ""

    def _claim_moves(self, seat: int, tile: str, *, is_next: bool) -> set[str]:
        hand = self.hands[seat]
        moves = {"win"} if is_complete([*hand, tile]) else set()
        rest = [each for each in hand if each != tile]
        if hand.count(tile) == 3 and self.wall and (not self._is_declared(seat) or waits(rest) == waits(hand)):
            moves.add(f"kong {tile}")
        if self.ready[seat]:
            return moves
        if hand.count(tile) >= 2:
            moves.add("pung")
        for first in range(1, 8) if is_next else ():
            run = [f"{rank}{tile[1]}" for rank in range(first, first + 3)]
            if tile in run and all(each in hand for each in run if each != tile):
                moves.add(f"chow {first}{first + 1}{first + 2}{tile[1]}")
        return moves

    def _win_from(self, loser: int, tile: str, winners: list[int]) -> None:
        self.loser = loser
        for seat in winners if self.several_winners else winners[:1]:
            self.wins[seat] = self._worth(seat, [*self.hands[seat], tile])
            self._pay(loser, seat, self.wins[seat])

    def _worth(self, seat: int, tiles: list[str]) -> int:
        """Return the fan of a complete hand."""
        melds = self.melds[seat]
        if len({tile[1] for tile in (*tiles, *(tile for meld in melds for tile in meld))}) == 1:
            return 12
        if len(tiles) == 14 and all(count % 2 == 0 for count in Counter(tiles).values()):
            return 12
        return 8 if is_triplets(tiles) and all(len(set(meld)) == 1 for meld in melds) else 6

    def _declare(self, seat: int) -> None:
        self.ready[seat] = True
        self._collect(seat, 1)

    def _collect(self, seat: int, fan: int) -> None:
        for other in others(seat):
            self._pay(other, seat, fan)

    def _pay(self, payer: int, seat: int, fan: int) -> None:
        self.fan[payer] -= fan
        self.fan[seat] += fan


def others(seat: int) -> list[int]:
    """Return the other seats in the order of turns."""
    return [(seat + step) % 4 for step in (1, 2, 3)]


def remove(tiles: Sequence[str], tile: str) -> list[str]:
    """Return tiles without one of them."""
    rest = list(tiles)
    rest.remove(tile)
    return rest
