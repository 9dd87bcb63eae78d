"""Tells a game of the simulator as text while it is played: walls, decisions with their other options, wins, places.

It reads the table before and after each decision, and uses none of the code that writes or reads records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from suphx.games.game import Agent
from suphx.games.mahjong.tile import CHI_MELD, PON_MELD
from suphx.games.riichi import table as codes
from suphx.games.riichi.records.decisions import hand_text
from suphx.games.riichi.records.game_log import RESULT_NAMES
from suphx.games.riichi.rules import Rules
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import action_name
from suphx.games.riichi.tile import face_name, face_of_id, format_faces
from suphx.games.riichi.yaku_number import YAKU_NAMES

SEATS = "ABCD"
WINDS = ("East", "South", "West", "North")
MELDS = ("", "chi", "pon", "ankan", "minkan", "kakan")
ONLY = np.array([0])


def tell_game(agents: Sequence[Agent], rules: Rules, wall_seed: int) -> Iterator[str]:
    """Yield the lines of one game; ``agents`` by seat."""
    simulator = Simulator(1, rules, stops_at_kyoku_end=True)
    simulator.reset([wall_seed])
    table: Any = simulator.tables[0]
    red_fives = rules.red_bits
    yield from _deal(table, red_fives)
    while table["phase"] != codes.GAME_END:
        if table["phase"] == codes.KYOKU_END:
            yield from _end(table, red_fives)
            simulator.next_kyoku(ONLY)
            if table["phase"] != codes.GAME_END:
                yield from _deal(table, red_fives)
            continue
        action = int(agents[int(table["actor"])].act(simulator.tables, ONLY)[0])
        yield _decision(table, action)
        before = table.copy()
        simulator.advance(ONLY, np.array([action], np.int16))
        yield from _changes(before, table, red_fives)
    places = ", ".join(f"{SEATS[seat]} {table['placement'][seat]}" for seat in range(4))
    yield f"\nPlaces: {places}; {_points(table['scores'])}"


def _points(scores: Sequence[int]) -> str:
    return " ".join(f"{SEATS[seat]} {int(scores[seat])}" for seat in range(4))


def _deal(table: Any, red_fives: int) -> Iterator[str]:
    kyoku = int(table["kyoku"])
    names = [face_name(face_of_id(int(tile), red_fives)) for tile in table["wall"]]
    yield f"\n{WINDS[kyoku // 4]} {kyoku % 4 + 1}, honba {table['honba']}, {table['kyotaku']} sticks"
    yield from (f"wall {' '.join(names[first : first + 34])}" for first in range(0, 136, 34))
    yield f"dora indicator {names[codes.DORA_POSITIONS[0]]}"
    for seat in range(4):
        drawn = [] if int(table["actor"]) != seat else [int(table["drawn"])]
        yield f"{SEATS[seat]} {WINDS[(seat - kyoku) % 4]:5} {table['scores'][seat]:6}  {hand_text(table, seat)}" + (
            f", the last drawn: {format_faces(drawn)}" if drawn else ""
        )


def _decision(table: Any, action: int) -> str:
    """Return what the actor does, and what else it may do but discard another tile."""
    seat, phase, drawn = int(table["actor"]), int(table["phase"]), int(table["drawn"])
    legal = np.flatnonzero(table["legal"]).tolist()
    if phase in (codes.CLAIM, codes.ROB_KAN):
        does = f"on {face_name(int(table['claimed_face']))}: {action_name(action)}"
    elif action <= codes.TSUMOGIRI:
        tile = "it" if action == codes.TSUMOGIRI else face_name(action)
        does = f"draws {face_name(drawn)}, discards {tile}" if drawn >= 0 else f"discards {tile}"
    else:
        does = f"draws {face_name(drawn)}, {action_name(action)} with {hand_text(table, seat)}"
    options = [action_name(other) for other in legal if other > codes.TSUMOGIRI and other not in (action, codes.PASS)]
    if phase in (codes.RIICHI_DISCARD, codes.CALL_DISCARD):
        options = [format_faces([drawn if other == codes.TSUMOGIRI else other for other in legal])]
    return f"{SEATS[seat]} {does}" + (f"  [{', '.join(options)}]" if options else "")


def _changes(before: Any, table: Any, red_fives: int) -> Iterator[str]:
    """Yield what a decision brought about besides: a stick, a meld, a dora indicator."""
    for seat in range(4):
        if table["phase"] != codes.KYOKU_END and table["scores"][seat] < before["scores"][seat]:
            yield f"  {SEATS[seat]} pays a riichi stick: {table['kyotaku']} on the table"
        if not np.array_equal(before["meld_type"][seat], table["meld_type"][seat]):
            changed = int(np.flatnonzero(before["meld_type"][seat] != table["meld_type"][seat])[0])
            yield f"  {SEATS[seat]} {_meld(table, seat, changed)}: {hand_text(table, seat)}"
    for i in range(int(before["num_dora"]), int(table["num_dora"])):
        yield f"  dora indicator {face_name(face_of_id(int(table['wall'][codes.DORA_POSITIONS[i]]), red_fives))}"


def _meld(table: Any, seat: int, place: int) -> str:
    kind, meld_type = int(table["meld_kind"][seat, place]), int(table["meld_type"][seat, place])
    count = 3 if meld_type in (CHI_MELD, PON_MELD) else 4
    kinds = [kind, kind + 1, kind + 2] if meld_type == CHI_MELD else [kind] * count
    if table["meld_red"][seat, place]:
        five = next(i for i, one in enumerate(kinds) if one % 9 == 4)
        kinds[five] = 34 + kinds[five] // 9
    tile, giver = int(table["meld_tile"][seat, place]), int(table["meld_from"][seat, place])
    source = f" with {face_name(tile)} of {SEATS[giver]}" if tile >= 0 else ""
    return f"{MELDS[meld_type]} {format_faces(kinds)}{source}"


def _end(table: Any, red_fives: int) -> Iterator[str]:
    """Yield how a deal ended."""
    result = int(table["result"])
    if result != codes.WIN_RESULT:
        yield f"{RESULT_NAMES[result]}"
    if result == codes.EXHAUSTIVE_DRAW:
        for seat in np.flatnonzero(table["tenpai"]).tolist():
            waits = [kind for kind in range(34) if int(table["waits"][seat]) >> kind & 1]
            yield f"  {SEATS[seat]} is tenpai: {hand_text(table, seat)} waits for {format_faces(waits)}"
    yield from (_win(table, w, red_fives) for w in range(int(table["num_wins"])))
    changes = " ".join(f"{SEATS[seat]} {int(table['deltas'][seat]):+}" for seat in range(4))
    yield f"  {changes}; {_points(table['scores'])}; {table['kyotaku']} sticks left"


def _win(table: Any, w: int, red_fives: int) -> str:
    seat, loser, face = (int(table[name][w]) for name in ("win_seat", "win_loser", "win_face"))
    how = f"by tsumo with {face_name(face)}" if loser == seat else f"by ron on {face_name(face)} of {SEATS[loser]}"
    melds = "".join(f", {_meld(table, seat, i)}" for i in range(int(table["num_melds"][seat])))
    yaku = [name for number, name in enumerate(YAKU_NAMES) if int(table["win_yaku"][w]) >> number & 1]
    for name in ("dora", "red", "ura"):
        if table[f"win_{name}"][w]:
            yaku.append(f"{name} {table[f'win_{name}'][w]}")
    if table["riichi"][seat]:
        ura = [face_of_id(int(table["wall"][codes.URA_POSITIONS[i]]), red_fives) for i in range(int(table["num_dora"]))]
        yaku.append(f"ura indicators {' '.join(map(face_name, ura))}")
    value = f"{table['win_yakuman'][w]} yakuman" if table["win_yakuman"][w] else f"{table['win_han'][w]} han"
    value += f" {table['win_fu'][w]} fu" if table["win_fu"][w] else ""
    liable = int(table["win_liable"][w])
    pao = f", {SEATS[liable]} is liable" if liable >= 0 else ""
    return (
        f"{SEATS[seat]} wins {how}: {hand_text(table, seat)}{melds}\n"
        f"  {', '.join(yaku)}: {value}, {table['win_points'][w]} points{pao}"
    )
