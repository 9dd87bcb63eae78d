"""Random wins, rare yaku well represented: hands, melds and circumstances that can occur together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, PON_MELD, TERMINALS_AND_HONOURS

GREEN = (19, 20, 21, 23, 25, 32)
KAN_MELDS = (ANKAN_MELD, MINKAN_MELD, KAKAN_MELD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Win:
    """One win; tiles are ids, so that red fives and dora indicators are exact."""

    concealed: list[int]
    """Ids of the concealed tiles, the winning one included."""
    win_tile: int
    melds: list[tuple[int, list[int]]]
    """(type, ids)."""
    dora: list[int]
    """Ids of the indicators."""
    ura: list[int]
    is_tsumo: bool
    riichi: int
    """0, 1 = riichi, 2 = double riichi."""
    has_ippatsu: bool
    is_rinshan: bool
    is_chankan: bool
    is_last_tile: bool
    is_first_turn: bool
    seat: int
    kyoku: int


def generate_win(rng: np.random.Generator) -> Win:
    """Return a random win (perhaps without a yaku)."""
    while True:
        groups = _random_groups(rng)
        counts = Counter(kind for group in groups for kind in group)
        if max(counts.values()) <= 4:
            break
    meld_types = _choose_melds(groups, rng)
    _promote_to_kans(groups, meld_types, counts, rng)
    ids = _give_ids(groups, rng)
    concealed = [tile for group, meld in zip(ids, meld_types, strict=True) if not meld for tile in group]
    melds = [(meld, group) for group, meld in zip(ids, meld_types, strict=True) if meld]
    used = {tile for group in ids for tile in group}
    rest = rng.permutation([tile for tile in range(136) if tile not in used])
    num_dora = 1 + sum(len(group) == 4 for _, group in melds)
    win_tile = int(rng.choice(concealed))
    return Win(
        concealed=concealed,
        win_tile=win_tile,
        melds=melds,
        dora=rest[:num_dora].tolist(),
        ura=rest[num_dora : 2 * num_dora].tolist(),
        seat=int(rng.integers(4)),
        kyoku=int(rng.integers(12)),
        **_random_circumstances(rng, melds, counts[win_tile >> 2]),
    )


def _random_groups(rng: np.random.Generator) -> list[list[int]]:
    """Return four sets and a pair as kinds, or the single group of 14 tiles of a special hand."""
    style = rng.random()
    if style < 0.06:
        pairs = rng.choice(_pool(rng), 7, replace=False)
        return [np.repeat(pairs, 2).tolist()]
    if style < 0.08:
        return [[*TERMINALS_AND_HONOURS, int(rng.choice(TERMINALS_AND_HONOURS))]]
    if style < 0.10:
        first = 9 * int(rng.integers(3))
        return [[first + i for i in (0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, int(rng.integers(9)))]]
    pool = _pool(rng)
    run_share = rng.choice([0.0, 0.3, 0.7, 0.9])
    sets: list[list[int]] = []
    for _ in range(4):
        starts = [kind for kind in pool if kind < 27 and kind % 9 < 7 and kind + 1 in pool and kind + 2 in pool]
        if sets and rng.random() < 0.25:
            sets.append(_related(sets[-1], rng))
        elif starts and rng.random() < run_share:
            low = int(rng.choice(starts))
            sets.append([low, low + 1, low + 2])
        else:
            sets.append([int(rng.choice(pool))] * 3)
    return [*sets, [int(rng.choice(pool))] * 2]


def _pool(rng: np.random.Generator) -> list[int]:
    """Return the kinds to choose from: all, one suit, honours, terminals, simples, green …"""
    suit = 9 * int(rng.integers(3))
    pools = [
        list(range(34)),
        [kind for kind in range(27) if 0 < kind % 9 < 8],
        list(range(suit, suit + 9)),
        [*range(suit, suit + 9), *range(27, 34)],
        list(TERMINALS_AND_HONOURS),
        [kind for kind in range(27) if kind % 9 in (0, 1, 2, 6, 7, 8)] + list(range(27, 34)),
        [kind for kind in range(27) if kind % 9 in (0, 1, 2, 6, 7, 8)],
        [*range(27, 34), suit],
        [27, 28, 29, 30, suit, suit + 1, suit + 2],
        [31, 32, 33, suit, suit + 1, suit + 2],
        list(GREEN),
        [0, 8, 9, 17, 18, 26],
    ]
    chosen = pools[rng.choice(len(pools), p=[0.25, 0.15, 0.1, 0.1, 0.06, 0.08, 0.08, 0.04, 0.04, 0.04, 0.03, 0.03])]
    return chosen if len(chosen) >= 7 else [*chosen, *range(27, 34)][:8]


def _related(group: list[int], rng: np.random.Generator) -> list[int]:
    """Return the same set again, in another suit, or the next run of the suit: double runs, sanshoku, straights."""
    if group[0] >= 27:
        return [27 + (kind - 27 + 1) % 7 for kind in group] if group[0] == group[1] else group
    if group[0] != group[1] and rng.random() < 0.5:
        low = (group[0] % 9 + int(rng.choice([0, 3]))) % 9
        low = group[0] // 9 * 9 + (low if low < 7 else low - 6)
        return [low, low + 1, low + 2]
    return [(kind + 9) % 27 for kind in group]


def _choose_melds(groups: list[list[int]], rng: np.random.Generator) -> list[int]:
    """Return the type of meld of every group, 0 for concealed ones."""
    types = [0] * len(groups)
    share = rng.choice([0.0, 0.0, 0.3, 0.6])
    for i, group in enumerate(groups):
        if len(group) == 3 and rng.random() < share:
            types[i] = PON_MELD if group[0] == group[1] else CHI_MELD
    return types


def _promote_to_kans(groups: list[list[int]], types: list[int], counts: Counter[int], rng: np.random.Generator) -> None:
    """Turn triplets into kans, in place, where the fourth tile is free."""
    share = rng.choice([0.0, 0.15, 0.8])
    for i, group in enumerate(groups):
        is_triplet = len(group) == 3 and group[0] == group[1]
        if is_triplet and counts[group[0]] == 3 and rng.random() < share:
            group.append(group[0])
            counts[group[0]] += 1
            types[i] = int(rng.choice([MINKAN_MELD, KAKAN_MELD])) if types[i] else ANKAN_MELD


def _give_ids(groups: list[list[int]], rng: np.random.Generator) -> list[list[int]]:
    free = {kind: rng.permutation(np.arange(4 * kind, 4 * kind + 4)).tolist() for kind in range(34)}
    return [[free[kind].pop() for kind in group] for group in groups]


def _random_circumstances(
    rng: np.random.Generator, melds: list[tuple[int, list[int]]], num_of_win_kind: int
) -> dict[str, Any]:
    """Return circumstances that do not contradict each other or the hand."""
    is_closed = all(meld == ANKAN_MELD for meld, _ in melds)
    is_tsumo = bool(rng.random() < 0.5)
    riichi = int(rng.choice([0, 1, 2], p=[0.4, 0.5, 0.1])) if is_closed else 0
    is_rinshan = bool(is_tsumo and any(meld in KAN_MELDS for meld, _ in melds) and rng.random() < 0.3)
    is_chankan = bool(not is_tsumo and num_of_win_kind == 1 and rng.random() < 0.1)
    is_first_turn = bool(is_tsumo and not melds and riichi == 0 and rng.random() < 0.05)
    is_last_tile = bool(not (is_rinshan or is_chankan or is_first_turn) and rng.random() < 0.1)
    return {
        "is_tsumo": is_tsumo,
        "riichi": riichi,
        "has_ippatsu": bool(riichi and not is_rinshan and rng.random() < 0.3),
        "is_rinshan": is_rinshan,
        "is_chankan": is_chankan,
        "is_last_tile": is_last_tile,
        "is_first_turn": is_first_turn,
    }
