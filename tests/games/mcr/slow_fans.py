"""Fans in plain Python, written from the table of fans and the principles of counting alone; slow.

Every reading of the hand, every way to combine its sets and every place of the winning tile is tried.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise, permutations

from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, PON_MELD
from suphx.games.mcr.fans import KONG, LAST_OF_KIND, LAST_TILE, SELF_DRAWN
from tests.games.mcr.random_wins import Win

VALUES = dict(enumerate([
    *[88] * 7, *[64] * 6, *[48] * 2, *[32] * 3, *[24] * 9, *[16] * 6, *[12] * 5, *[8] * 9, *[6] * 7, *[4] * 4,
    *[2] * 10, *[1] * 13, 5,
], 1))  # fmt: skip
NOT = {
    1: "38 48 60 61 73", 2: "54 59", 3: "49 75", 5: "48 79", 6: "19 22 56 62 76 79", 7: "18 51 56 62 79",
    8: "18 48 55 65 73 76", 9: "38", 10: "54 59", 11: "18 48 55 73 75", 12: "48 62 56", 13: "19 22 63 69 72 76",
    14: "23 24 64 69", 15: "23 24 48", 16: "30 71 72", 18: "48 55 73", 19: "56 62 79", 20: "34 51 56 62 79",
    21: "48 68 76", 22: "75 76", 23: "24 69", 24: "23", 25: "36 76", 26: "68 76", 27: "37 76", 28: "71 72",
    29: "63 70 72 76", 31: "68 76", 32: "65", 34: "51 56 62 79", 36: "76", 37: "76", 40: "75", 41: "70", 44: "80",
    46: "80", 47: "58", 49: "75", 52: "79", 53: "66 67", 54: "59", 56: "80", 57: "74", 63: "76", 68: "76",
    82: "67 74",
}  # fmt: skip
OF_OWN_CHOWS = {14, 16, 23, 28, 41}
"""What these exclude, they exclude for their own chows only."""
WINDS, DRAGONS = {27, 28, 29, 30}, {31, 32, 33}
HONOURS = WINDS | DRAGONS
ENDS = {kind for kind in range(27) if kind % 9 in (0, 8)}
Fans = Counter[int]


@dataclass(frozen=True)
class Group:
    """A set: ``form`` is chow, pung or kong."""

    form: str
    kind: int
    is_open: bool

    @property
    def kinds(self) -> set[int]:
        return {self.kind, self.kind + 1, self.kind + 2} if self.form == "chow" else {self.kind}


def read(tiles: Fans, num_sets: int) -> Iterator[tuple[list[Group], int]]:
    """Yield every reading of ``tiles`` as concealed sets and the kind of the pair."""
    for pair in sorted(tiles):
        if tiles[pair] >= 2:
            for sets in _read_sets(tiles - Counter({pair: 2}), num_sets):
                yield sets, pair


def _read_sets(tiles: Fans, num_sets: int) -> Iterator[list[Group]]:
    if num_sets == 0:
        if not tiles:
            yield []
        return
    low = min(tiles)
    for form, kinds in (("pung", [low] * 3), ("chow", [low, low + 1, low + 2])):
        needed = Counter(kinds)
        if tiles >= needed and (form == "pung" or (low < 27 and low % 9 < 7)):
            for others in _read_sets(tiles - needed, num_sets - 1):
                yield [Group(form, low, False), *others]


def is_seven_pairs(tiles: Fans) -> bool:
    return sum(tiles.values()) == 14 and all(number % 2 == 0 for number in tiles.values())


def waits(tiles: Fans, num_sets: int) -> set[int]:
    """Return the kinds that complete a standard hand or seven pairs."""
    added = {kind: tiles + Counter([kind]) for kind in range(34)}
    return {k for k, hand in added.items() if next(read(hand, num_sets), None) is not None or is_seven_pairs(hand)}


def best_fans(win: Win, is_mixed_kong_on: bool, has_2024_waits: bool) -> tuple[int, list[Fans]]:
    """Return the highest total and all lists of fans that give it."""
    found = [settle(fans) for fans in all_ways(win, is_mixed_kong_on, has_2024_waits)]
    totals = [sum(VALUES[number] * count for number, count in fans.items()) for fans in found]
    best = max(totals)
    lists = [fans for fans, total in zip(found, totals, strict=True) if total == best]
    return best, [fans for i, fans in enumerate(lists) if fans not in lists[:i]]


def settle(fans: Fans) -> Fans:
    """Drop what other fans exclude; Chicken Hand if nothing is there."""
    if 56 in fans and any("56" in NOT.get(number, "").split() or number == 4 for number in fans):
        fans = fans - Counter([56]) + Counter([80])
    excluded = {
        int(other)
        for number in fans
        for other in NOT.get(number, "").split()
        if number not in OF_OWN_CHOWS or other == "64"
    }
    kept = Counter({number: count for number, count in fans.items() if number not in excluded})
    return kept or Counter([43])


def all_ways(win: Win, is_mixed_kong_on: bool, has_2024_waits: bool) -> Iterator[Fans]:
    """Yield the fans, excluded ones included, of every way to read the hand."""
    tiles = Counter(win.concealed)
    melds = [
        Group("chow" if t == CHI_MELD else "pung" if t == PON_MELD else "kong", k, t != ANKAN_MELD)
        for t, k in win.melds
    ]
    common = fans_of_tiles(win, tiles, melds) + fans_of_kongs(melds, is_mixed_kong_on) + fans_of_win(win, melds)
    if not melds:
        yield from _special_ways(tiles, common)
    for order in permutations(range(3)) if len(melds) <= 1 else ():
        knitted = Counter(9 * suit + rank for suit, low in enumerate(order) for rank in (low, low + 3, low + 6))
        if not tiles >= knitted:
            continue
        rest = tiles - knitted
        for sets, pair in read(rest, 1 - len(melds)):
            fans = common + Counter([35]) + fans_of_pungs(melds + sets, pair, win)
            if (melds + sets)[0].form == "chow" and pair < 27:
                fans[63] = 1
            is_wait = win.win_kind in rest and (has_2024_waits or win.win_kind not in knitted)
            if is_wait and waits_of_rest(rest - Counter([win.win_kind]), 1 - len(melds)) == {win.win_kind}:
                fans += wait_fan(sets, pair, win.win_kind)
            yield fans
    is_only = None
    for sets, pair in read(tiles, 4 - len(melds)):
        wait = wait_fan(sets, pair, win.win_kind)
        if wait and is_only is None:
            is_only = waits(tiles - Counter([win.win_kind]), 4 - len(melds)) == {win.win_kind}
        if not is_only:
            wait = Counter()
        every = melds + sets
        fans = (
            common
            + fans_of_pungs(every, pair, win)
            + fans_of_form(every, pair)
            + wait
            + _concealed_pungs(melds, sets, win)
        )
        if not melds and _is_nine_gates(tiles - Counter([win.win_kind])):
            yield nine_gates(win, common)
        for combined in combine_chows(sorted(each.kind for each in every if each.form == "chow")):
            yield fans + combined


def waits_of_rest(tiles: Fans, num_sets: int) -> set[int]:
    added = {kind: tiles + Counter([kind]) for kind in range(34)}
    return {kind for kind, hand in added.items() if next(read(hand, num_sets), None) is not None}


def _special_ways(tiles: Fans, common: Fans) -> Iterator[Fans]:
    kinds = set(tiles)
    if kinds == ENDS | HONOURS:
        yield common + Counter([7])
    if is_seven_pairs(tiles):
        yield common + Counter([19])
        if (
            kinds < set(range(27))
            and len({kind // 9 for kind in kinds}) == 1
            and max(kinds) - min(kinds) == 6 == len(kinds) - 1
        ):
            yield common + Counter([6])
    if len(kinds) == 14:
        for order in permutations(range(3)):
            knitted = {9 * suit + rank for suit, low in enumerate(order) for rank in (low, low + 3, low + 6)}
            if kinds <= knitted | HONOURS:
                fans = Counter([20]) if kinds >= HONOURS else Counter([34])
                yield common + fans + Counter([35] if knitted <= kinds else [])


def _is_nine_gates(tiles: Fans) -> bool:
    low = min(tiles) // 9 * 9
    return tiles == Counter(low + rank for rank in (0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8))


def nine_gates(win: Win, common: Fans) -> Fans:
    """Return the fans of Nine Gates: fixed additions by the winning rank."""
    additions = {
        0: [28, 64], 8: [28, 64], 1: [66, 71, 73], 7: [66, 71, 73], 4: [66, 73], 2: [71], 3: [71], 5: [71], 6: [71],
    }  # fmt: skip
    flags = Counter({number: 1 for number in (44, 45, 46, 47, 58) if number in common})
    return flags + Counter([4, *additions[win.win_kind % 9]]) + Counter([80] if win.circumstances & SELF_DRAWN else [])


def fans_of_tiles(win: Win, tiles: Fans, melds: list[Group]) -> Fans:
    """Return the fans of which tiles there are."""
    whole = Counter(tiles)
    for meld in melds:
        whole += Counter(dict.fromkeys(meld.kinds, 1) if meld.form == "chow" else {meld.kind: 3})
    kinds, fans = set(whole), Counter({64: sum(number == 4 for number in whole.values())})
    ranks, suits = {kind % 9 + 1 for kind in kinds - HONOURS}, {kind // 9 for kind in kinds - HONOURS}
    has_honours = bool(kinds & HONOURS)
    green = {18 + rank - 1 for rank in (2, 3, 4, 6, 8)} | {32}
    reversible = {9 + r - 1 for r in (1, 2, 3, 4, 5, 8, 9)} | {18 + r - 1 for r in (2, 4, 5, 6, 8, 9)} | {31}
    conditions = {
        3: kinds <= green,
        8: kinds <= ENDS,
        11: kinds <= HONOURS,
        18: kinds <= ENDS | HONOURS and bool(kinds & ENDS) and has_honours,
        22: len(suits) == 1 and not has_honours,
        25: not has_honours and ranks <= {7, 8, 9},
        26: not has_honours and ranks <= {4, 5, 6},
        27: not has_honours and ranks <= {1, 2, 3},
        36: not has_honours and ranks <= {6, 7, 8, 9},
        37: not has_honours and ranks <= {1, 2, 3, 4},
        40: kinds <= reversible,
        49: len(suits) == 1 and has_honours,
        51: len(suits) == 3 and bool(kinds & WINDS) and bool(kinds & DRAGONS),
        68: not kinds & (ENDS | HONOURS),
        75: len(suits) == 2,
        76: not has_honours,
    }
    return fans + Counter(number for number, holds in conditions.items() if holds)


def fans_of_kongs(melds: list[Group], is_mixed_kong_on: bool) -> Fans:
    kongs = [meld for meld in melds if meld.form == "kong"]
    is_open = sorted(meld.is_open for meld in kongs)
    if len(kongs) >= 3:
        return Counter([17 if len(kongs) == 3 else 5])
    if is_open == [False, True]:
        return Counter([82] if is_mixed_kong_on else [67, 74])
    return Counter({(): [], (False,): [67], (True,): [74], (False, False): [53], (True, True): [57]}[tuple(is_open)])


def fans_of_win(win: Win, melds: list[Group]) -> Fans:
    """Return the fans of how the hand was won."""
    num_open = sum(meld.is_open for meld in melds)
    is_drawn = bool(win.circumstances & SELF_DRAWN)
    fans = [] if num_open else [56 if is_drawn else 62]
    if num_open and is_drawn:
        fans.append(80)
    if num_open == 4 and not is_drawn:
        fans.append(52)
    if win.circumstances & LAST_TILE:
        fans.append(44 if is_drawn else 45)
    if win.circumstances & KONG:
        fans.append(46 if is_drawn else 47)
    if win.circumstances & LAST_OF_KIND:
        fans.append(58)
    return Counter(fans)


def _concealed_pungs(melds: list[Group], sets: list[Group], win: Win) -> Fans:
    number = sum(meld.form == "kong" and not meld.is_open for meld in melds) + sum(each.form == "pung" for each in sets)
    fits = [each.form for each in sets if win.win_kind in each.kinds]
    if not win.circumstances & SELF_DRAWN and fits == ["pung"]:
        number -= 1
    return Counter({2: [66], 3: [33], 4: [12]}.get(number, []))


def fans_of_pungs(sets: list[Group], pair: int, win: Win) -> Fans:
    """Return the fans of the kinds of pungs and kongs, and of winds and dragons with the pair."""
    pungs = {each.kind for each in sets if each.form != "chow"}
    winds, dragons = pungs & WINDS, pungs & DRAGONS
    fans = Counter({60: 27 + win.round_wind in winds, 61: 27 + win.seat_wind in winds})
    if len(winds) >= 3:
        fans[{4: 1, 3: 9 if pair in WINDS else 38}[len(winds)]] = 1
    if dragons:
        fans[{3: 2, 2: 10 if pair in DRAGONS else 54, 1: 59}[len(dragons)]] = 1
    taken = {27 + win.round_wind, 27 + win.seat_wind} | (WINDS if len(winds) >= 3 else set())
    fans[73] = len(pungs & (ENDS | WINDS - taken))
    suited = sorted(pungs - HONOURS)
    fans[65] = sum(a % 9 == b % 9 for a, b in combinations(suited, 2))
    for three in combinations(suited, 3):
        ranks = sorted(kind % 9 for kind in three)
        steps = {ranks[1] - ranks[0], ranks[2] - ranks[1]}
        num_suits = len({kind // 9 for kind in three})
        if num_suits == 3 and steps == {0}:
            fans[32] = 1
        if steps == {1} and num_suits in (1, 3):
            fans[24 if num_suits == 1 else 42] = 1
    if len(suited) == 4 and suited[0] // 9 == suited[3] // 9 and suited[3] - suited[0] == 3:
        fans[15] = 1
    return +fans


def fans_of_form(sets: list[Group], pair: int) -> Fans:
    """Return the fans of all sets and the pair together."""
    groups = [*[each.kinds for each in sets], {pair}]
    chows = sorted(each.kind for each in sets if each.form == "chow")
    all_chows, suit = len(chows) == 4, pair // 9
    ends = [[9 * each, 9 * each + 6] for each in range(3)]
    conditions = {
        13: pair in (4, 13, 22) and chows == sorted(2 * ends[suit]),
        21: not chows and all(kind < 27 and kind % 9 in (1, 3, 5, 7) for group in groups for kind in group),
        29: pair in (4, 13, 22) and chows == sorted(ends[(suit + 1) % 3] + ends[(suit + 2) % 3]),
        31: all(any(kind < 27 and kind % 9 == 4 for kind in group) for group in groups),
        48: not chows,
        55: all(group & (ENDS | HONOURS) for group in groups),
        63: all_chows and pair < 27,
    }
    return Counter(number for number, holds in conditions.items() if holds)


def fan_of_chows(chows: list[int]) -> int | None:
    """Return the fan that two, three or four chows in ascending order make."""
    ranks, suits = sorted(chow % 9 for chow in chows), {chow // 9 for chow in chows}
    steps = {b - a for a, b in pairwise(ranks)}
    if len(steps) > 1:
        return None
    step = steps.pop()
    if len(suits) == 1:
        return {2: {0: 69, 3: 71, 6: 72}, 3: {0: 23, 1: 30, 2: 30, 3: 28}, 4: {0: 14, 1: 16, 2: 16}}[len(chows)].get(
            step
        )
    if len(suits) == len(chows):
        return {2: {0: 70}, 3: {0: 41, 1: 50, 3: 39}}[len(chows)].get(step)
    return None


def combine_chows(chows: list[int]) -> Iterator[Fans]:
    """Yield the fans of every way to combine chows in which a fan joins only what no other fan has joined before.

    Nothing that can still be combined is left.
    """
    edges = [
        (fan, frozenset(chosen))
        for size in (2, 3, 4)
        for chosen in combinations(range(len(chows)), size)
        if (fan := fan_of_chows([chows[i] for i in chosen])) is not None
    ]
    pending: list[tuple[int, list[set[int]], Fans]] = [(0, [{i} for i in range(len(chows))], Counter())]
    while pending:
        first, parts, fans = pending.pop()
        fitting = [i for i, (_, chosen) in enumerate(edges) if all(len(part & chosen) < 2 for part in parts)]
        if not fitting:
            yield fans
        for i in fitting:
            if i >= first:
                fan, chosen = edges[i]
                joined = set().union(*(part for part in parts if part & chosen))
                pending.append((i + 1, [*(part for part in parts if not part & chosen), joined], fans + Counter([fan])))


def wait_fan(sets: list[Group], pair: int, win_kind: int) -> Fans:
    chows = [each.kind for each in sets if each.form == "chow"]
    if win_kind < 27:
        if (win_kind % 9 == 2 and win_kind - 2 in chows) or (win_kind % 9 == 6 and win_kind in chows):
            return Counter([77])
        if win_kind - 1 in chows:
            return Counter([78])
    return Counter([79] if win_kind == pair else [])
