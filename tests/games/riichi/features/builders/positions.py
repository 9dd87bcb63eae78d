"""Every decision of a recorded game twice: as the rules engine's table, and as the history of its events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, PON_MELD, TERMINALS_AND_HONOURS
from suphx.games.riichi.records.decisions import KyokuWalk
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.kyoku_builder import Event, play_kyoku
from suphx.games.riichi.rules import Rules, apply_rules
from suphx.games.riichi.table import (
    ANKAN,
    CALL_DISCARD,
    CHI,
    CHI_RED,
    CLAIM,
    DORA_POSITIONS,
    KAKAN,
    MINKAN,
    OWN_TURN,
    PON,
    PON_RED,
    RIICHI_DISCARD,
    ROB_KAN,
    TABLE,
)
from suphx.kernel.record import Records
from tests.games.riichi.features.builders.public_history import PublicHistory

FORMS = (
    range(34), range(9), [*range(9, 18), *range(27, 34)], TERMINALS_AND_HONOURS, range(27, 34),
    [k for k in range(27) if 0 < k % 9 < 8], [19, 20, 21, 23, 25, 32], [k for k in range(27) if k % 9 in (0, 1, 2, 8)],
)  # fmt: skip
NINE_GATES = (0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8)


def near_win_tables(count: int, seed: int) -> Records:
    """Return TABLE records (count,): the actor's hand is up to four tiles from a win, two thirds with a discard."""
    rng = np.random.default_rng(seed)
    tables = np.zeros(count, TABLE)
    for table in tables:
        fill(table, rng)
    return tables


def fill(table: np.void, rng: np.random.Generator) -> None:
    apply_rules(table, Rules(open_tanyao=bool(rng.integers(0, 2))))
    table["kyoku"], table["actor"] = rng.integers(0, 12), rng.integers(0, 4)
    table["drawn"] = table["claimed_face"] = table["meld_tile"] = -1
    table["wall"] = rng.permutation(136)
    table["num_dora"] = rng.integers(1, 6)
    used = Counter(int(table["wall"][DORA_POSITIONS[i]]) // 4 for i in range(table["num_dora"]))
    tiles, melds = complete_hand(rng, used)
    seat = int(table["actor"])
    for i, (meld_type, kind) in enumerate(melds):
        table["meld_type"][seat, i], table["meld_kind"][seat, i] = meld_type, kind
        table["meld_from"][seat, i] = seat if meld_type == ANKAN_MELD else (seat + 1) % 4
        if meld_type != ANKAN_MELD:
            put_into_river(table, (seat + 1) % 4, kind)
            table["meld_tile"][seat, i] = kind
    table["num_melds"][seat] = len(melds)
    rng.shuffle(tiles)
    for _ in range(rng.integers(1, 5)):
        gone = tiles.pop()
        used[gone] -= 1
        tiles.insert(0, draw(rng, used))
    if rng.integers(0, 3) == 0:
        used[tiles.pop()] -= 1
        table["phase"] = CLAIM
    else:
        table["phase"], table["drawn"] = OWN_TURN, tiles[-1]
    np.add.at(table["hand"][seat], tiles, 1)
    fives = sum(1 << suit for suit in range(3) if 9 * suit + 4 in tiles)
    table["red"][seat] = fives & rng.integers(0, 8)
    for _ in range(rng.integers(0, 40)):
        put_into_river(table, int(rng.integers(0, 4)), draw(rng, used))


def put_into_river(table: np.void, seat: int, kind: int) -> None:
    table["river"][seat, table["river_length"][seat]] = kind
    table["river_length"][seat] += 1


def draw(rng: np.random.Generator, used: Counter[int]) -> int:
    kind = int(rng.choice([k for k in range(34) if used[k] < 4]))
    used[kind] += 1
    return kind


def complete_hand(rng: np.random.Generator, used: Counter[int]) -> tuple[list[int], list[tuple[int, int]]]:
    """Return concealed tiles and melds (type, lowest kind) of a win, and count them in ``used``."""
    while True:
        tiles, melds = try_hand(rng)
        counts = Counter(tiles)
        for meld_type, kind in melds:
            counts.update(range(kind, kind + 3) if meld_type == CHI_MELD else [kind] * (3 + (meld_type > PON_MELD)))
        if all(used[k] + n <= 4 for k, n in counts.items()):
            used.update(counts)
            return tiles, melds


def try_hand(rng: np.random.Generator) -> tuple[list[int], list[tuple[int, int]]]:
    form = int(rng.integers(0, 12))
    if form == 0:
        return [*TERMINALS_AND_HONOURS, int(rng.choice(TERMINALS_AND_HONOURS))], []
    if form == 1:
        return [*NINE_GATES, int(rng.integers(0, 9))], []
    kinds = [int(k) for k in FORMS[rng.integers(0, len(FORMS))]]
    if form == 2 and len(kinds) >= 7:
        return [int(k) for k in rng.permutation(kinds)[:7] for _ in range(2)], []
    tiles = [int(rng.choice(kinds))] * 2
    melds = []
    num_melds = int(rng.integers(0, 5) * rng.integers(0, 2))
    runs = [k for k in kinds if k < 27 and k % 9 < 7 and k + 1 in kinds and k + 2 in kinds]
    likes_runs = rng.random()
    for i in range(4):
        is_run = bool(runs) and rng.random() < likes_runs
        kind = int(rng.choice(runs if is_run else kinds))
        if i < num_melds:
            meld_type = CHI_MELD if is_run else int(rng.choice([PON_MELD, ANKAN_MELD, MINKAN_MELD, KAKAN_MELD]))
            melds.append((meld_type, kind))
        else:
            tiles += [kind, kind + 1, kind + 2] if is_run else [kind] * 3
    return tiles, melds


def hide_differently(table: np.void, seat: int, rng: np.random.Generator) -> None:
    """Change everything that ``seat`` cannot see: other hands, the wall, and what the engine knows of them."""
    is_own_turn = table["phase"] in (OWN_TURN, RIICHI_DISCARD, CALL_DISCARD) and table["actor"] == seat
    shown = [*DORA_POSITIONS[: table["num_dora"]]]
    hidden = np.setdiff1d(np.arange(136), shown)
    table["wall"][hidden] = rng.integers(0, 136, len(hidden))
    for other in range(4):
        if other != seat:
            table["hand"][other] = rng.integers(0, 5, 34)
            table["red"][other] = rng.integers(0, 8)
            table["waits"][other] = rng.integers(0, 1 << 34)
            table["missed_win"][other] = rng.integers(0, 3)
    for name in ("claim_actions", "legal", "wall_seed", "tenpai"):
        table[name] = rng.integers(0, 3, table[name].shape)
    if not is_own_turn:
        table["drawn"], table["forbidden"] = rng.integers(-1, 37), rng.integers(0, 1 << 34)


_SHOWN_BY = {OWN_TURN: "draw", RIICHI_DISCARD: "riichi", CALL_DISCARD: "call", CLAIM: "discard", ROB_KAN: "call"}


class Position(NamedTuple):
    table: Any
    """The TABLE record; it changes when the next position is asked for."""
    history: PublicHistory

    @property
    def actor(self) -> int:
        return int(self.table["actor"])

    def claims(self) -> list[int]:
        """Return the possible claims and kans of the actor that a net judges."""
        judged = [PON, PON_RED, MINKAN, *range(CHI, CHI_RED + 3), *range(ANKAN, KAKAN + 34)]
        return [action for action in judged if self.table["legal"][action] and self.table["phase"] != ROB_KAN]


def positions(game: GameLog) -> Iterator[Position]:
    """Yield every decision of ``game``, passes included."""
    for index, log in enumerate(game.kyokus):
        walk, history = KyokuWalk(game, index), PublicHistory(log, game.rules)
        events = iter(play_kyoku(log).events)
        table, window = walk.table, None
        for _ in walk:
            now = tuple(int(value) for value in (table["phase"], table["river_length"].sum(), table["num_kans"]))
            if table["phase"] not in (CLAIM, ROB_KAN) or now != window:  # several seats are asked about one tile
                _catch_up(history, events, table)
            window = now
            yield Position(table, history)


def _catch_up(history: PublicHistory, events: Iterator[Event], table: Any) -> None:
    """Follow the events up to the one that put ``table`` where it stands."""
    shown_by = _SHOWN_BY[int(table["phase"])]
    seat = int(table["turn"])
    for event in events:
        history.add(event)
        if event.kind == shown_by and event.seat == seat:
            return
    raise AssertionError(f"no event brings the table to phase {table['phase']}")
