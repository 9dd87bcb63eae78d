"""Random tables that keep the rules of tiles (136, four of a kind) but not those of play: more varied than games."""

from __future__ import annotations

import numpy as np

from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, PON_MELD
from suphx.games.riichi.rules import apply_rules, tenhou, tenhou_no_red
from suphx.games.riichi.table import CALL_DISCARD, CALLED_FLAG, CLAIM, MAX_RIVER, OWN_TURN, RIICHI_DISCARD, TABLE
from suphx.games.riichi.tile import face_of_id, kind_of_face
from suphx.kernel.record import Records

DORA_PLACES = (130, 128, 126, 124, 122)


def random_tables(count: int, seed: int) -> Records:
    """Return TABLE records (count,), half of them at an own turn, half in a claim window."""
    rng = np.random.default_rng(seed)
    tables = np.zeros(count, TABLE)
    for i in range(count):
        _fill(tables[i], rng, OWN_TURN if i % 2 else CLAIM)
    return tables


def hide_differently(table: np.void, seat: int, rng: np.random.Generator) -> None:
    """Change everything that ``seat`` cannot see: other hands, the wall, and what the engine knows of them."""
    is_own_turn = table["phase"] in (OWN_TURN, RIICHI_DISCARD, CALL_DISCARD) and table["actor"] == seat
    shown = [*DORA_PLACES[: table["num_dora"]]]
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


def _fill(table: np.void, rng: np.random.Generator, phase: int) -> None:
    ids = [int(i) for i in rng.permutation(136)]
    apply_rules(table, tenhou() if rng.integers(0, 10) else tenhou_no_red())
    table["kyoku"], table["honba"], table["kyotaku"] = rng.integers(0, 12), rng.integers(0, 25), rng.integers(0, 25)
    table["scores"] = rng.integers(-30, 620, 4) * 100
    if rng.integers(0, 4) == 0:
        table["scores"][rng.integers(0, 4)] = table["scores"][rng.integers(0, 4)]
    table["riichi"] = rng.integers(0, 3, 4) * rng.integers(0, 2, 4)
    table["phase"], table["actor"] = phase, rng.integers(0, 4)
    table["turn"] = table["actor"] if phase == OWN_TURN else (table["actor"] + rng.integers(1, 4)) % 4
    table["wall"] = rng.permutation(136)
    table["num_dora"] = rng.integers(1, 6)
    for i in range(table["num_dora"]):
        table["wall"][DORA_PLACES[i]] = ids.pop()
    table["meld_tile"] = table["drawn"] = table["claimed_face"] = -1
    for seat in range(4):
        for _ in range(rng.integers(0, 5) * rng.integers(0, 2)):
            _add_meld(table, rng, ids, seat)
    _fill_hands(table, rng, ids)
    _fill_rivers(table, rng, ids)
    table["next_draw"] = rng.integers(52, 123 - table["num_kans"])


def _add_meld(table: np.void, rng: np.random.Generator, ids: list[int], seat: int) -> None:
    meld_type, kind = int(rng.integers(CHI_MELD, KAKAN_MELD + 1)), int(rng.integers(0, 34))
    if meld_type == CHI_MELD:
        if kind >= 27 or kind % 9 > 6:
            return
        wanted = [next((i for i in ids if i >> 2 == kind + offset), -1) for offset in range(3)]
    else:
        wanted = [i for i in ids if i >> 2 == kind][: 3 if meld_type == PON_MELD else 4]
        wanted += [-1] * ((3 if meld_type == PON_MELD else 4) - len(wanted))
    if -1 in wanted:
        return
    for tile_id in wanted:
        ids.remove(tile_id)
    faces = [face_of_id(i, int(table["red_fives"])) for i in wanted]
    place = table["num_melds"][seat]
    table["meld_type"][seat, place], table["meld_kind"][seat, place] = meld_type, kind
    table["meld_red"][seat, place] = sum(face >= 34 for face in faces)
    table["meld_from"][seat, place] = seat
    table["num_melds"][seat] = place + 1
    table["num_kans"] += meld_type in (ANKAN_MELD, MINKAN_MELD, KAKAN_MELD)
    if meld_type != ANKAN_MELD:
        claimed = faces[rng.integers(0, 3)]
        source = (seat + (3 if meld_type == CHI_MELD else int(rng.integers(1, 4)))) % 4
        table["meld_tile"][seat, place], table["meld_from"][seat, place] = claimed, source
        _discard(table, source, claimed, CALLED_FLAG)


def _discard(table: np.void, seat: int, face: int, flags: int) -> None:
    place = table["river_length"][seat]
    table["river"][seat, place], table["river_flags"][seat, place] = face, flags
    table["river_length"][seat] = place + 1
    table["river_kinds"][seat] |= 1 << kind_of_face(face)


def _fill_hands(table: np.void, rng: np.random.Generator, ids: list[int]) -> None:
    for seat in range(4):
        has_drawn = table["phase"] == OWN_TURN and seat == table["actor"]
        _gather(ids, rng)
        for _ in range(13 - 3 * table["num_melds"][seat] + has_drawn):
            face = face_of_id(ids.pop(), int(table["red_fives"]))
            table["hand"][seat, kind_of_face(face)] += 1
            table["red"][seat] |= 1 << (face - 34) if face >= 34 else 0
    rng.shuffle(ids)


def _gather(ids: list[int], rng: np.random.Generator) -> None:
    """Bring tiles of neighbouring kinds to the end, half of the time: hands with pairs, runs and quads."""
    rng.shuffle(ids)
    if rng.integers(0, 2):
        centre = int(rng.integers(0, 34))
        ids.sort(key=lambda i: -abs((i >> 2) - centre))


def _fill_rivers(table: np.void, rng: np.random.Generator, ids: list[int]) -> None:
    claimed = _take_wanted(table, ids) if table["phase"] == CLAIM else -1
    for seat in range(4):
        for _ in range(rng.integers(0, 28)):
            if ids and table["river_length"][seat] < MAX_RIVER - 1:
                _discard(table, seat, face_of_id(ids.pop(), int(table["red_fives"])), int(rng.integers(0, 2)))
    if claimed >= 0:
        table["claimed_face"] = face_of_id(claimed, int(table["red_fives"]))
        _discard(table, int(table["turn"]), int(table["claimed_face"]), 0)


def _take_wanted(table: np.void, ids: list[int]) -> int:
    """Take a tile out of the pool, one of which the actor has others if there is any."""
    hand = table["hand"][table["actor"]]
    wanted = max(ids, key=lambda i: int(hand[i >> 2]))
    ids.remove(wanted)
    return wanted
