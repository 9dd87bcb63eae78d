"""A played game as plain values from which a page draws it: hands, melds, rivers and results, deal by deal.

``{"names": [4], "deals": [{"name", "dealer", "sticks", "dora": [face], "ura": [face], "scores": [4], "deltas": [4],
"result", "seats": [{"hand": [face], "won_with": face or null, "melds": [{"faces": [face], "taken": place or null,
"is_hidden"}], "river": [[face, flags]], "has_riichi"}]}], "final_scores": [4] or null}``. Faces are those of
table/tile.py, flags those of table/table.py. Ura dora indicators are given where somebody won with riichi.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suphx.games.riichi.engine.kyoku import start_kyoku
from suphx.games.riichi.hand.suit_table import load_suits
from suphx.games.riichi.records.log.game_text import hand_faces, kyoku_name
from suphx.games.riichi.records.log.gamelog import GameLog, KyokuLog
from suphx.games.riichi.records.log.replay import NO_MOVE, follow, recorded_action
from suphx.games.riichi.records.log.result_text import DRAW_NAMES, win_value, win_yaku
from suphx.games.riichi.table.action import LEAVE
from suphx.games.riichi.table.meld import meld_size
from suphx.games.riichi.table.rules import apply_rules
from suphx.games.riichi.table.table import ANKAN_MELD, CHI_MELD, KYOKU_END, TABLE
from suphx.games.riichi.table.tile import NUM_KINDS, face_of_id, is_five, kind_of_face
from suphx.games.riichi.table.wall import DORA, URA

SEATS = 4


def sample_game(game: GameLog, names: Sequence[str]) -> dict[str, Any]:
    """Return the game with its seats called ``names``; ValueError when its moves contradict the rules."""
    deals = [_deal(game, index, names) for index in range(len(game.kyokus))]
    final = None if game.final_scores is None else [int(score) for score in game.final_scores]
    return {"names": list(names), "deals": deals, "final_scores": final}


def _deal(game: GameLog, index: int, names: Sequence[str]) -> dict[str, Any]:
    log, red = game.kyokus[index], game.rules.red_bits
    table = _played(game, log)
    # Riichi sticks paid in the deal belong to what it changed.
    is_last = index + 1 == len(game.kyokus)
    after = (game.final_scores or table["scores"]) if is_last else game.kyokus[index + 1].scores
    has_ura = any(table["riichi"][int(table["win_seat"][w])] for w in range(int(table["num_wins"])))
    indicators = range(int(table["num_dora"]))
    return {
        "name": kyoku_name(log.kyoku, log.honba),
        "dealer": log.kyoku % SEATS,
        "sticks": log.kyotaku,
        "dora": [face_of_id(int(log.wall[DORA - 2 * i]), red) for i in indicators],
        "ura": [face_of_id(int(log.wall[URA - 2 * i]), red) for i in indicators] if has_ura else [],
        "scores": [int(score) for score in log.scores],
        "deltas": [int(then) - int(now) for now, then in zip(log.scores, after, strict=True)],
        "result": _result(table, names),
        "seats": [_seat(table, seat) for seat in range(SEATS)],
    }


def _played(game: GameLog, log: KyokuLog) -> Any:
    """Return the table at the end of a deal."""
    tables = np.zeros(1, TABLE)
    apply_rules(tables, game.rules)
    table: Any = tables[0]
    table["scores"], table["wall"] = log.scores, log.wall
    table["kyoku"], table["honba"], table["kyotaku"] = log.kyoku, log.honba, log.kyotaku
    suits = load_suits()
    start_kyoku(tables[0], suits)
    cursor = np.zeros(SEATS, np.int64)
    while table["phase"] != KYOKU_END:
        action = recorded_action(tables[0], log.moves, int(log.result["result"]), cursor)
        if action == NO_MOVE or action >= LEAVE or not table["legal"][action]:
            raise ValueError(f"a deal of game {game.id} contradicts the rules: see suphx records verify")
        follow(tables[0], suits, log.moves, cursor, action)
    return table


def _seat(table: Any, seat: int) -> dict[str, Any]:
    hand = hand_faces(table, seat)
    wins = [w for w in range(int(table["num_wins"])) if table["win_seat"][w] == seat]
    won_with = int(table["win_face"][wins[0]]) if wins else None
    if won_with is not None and table["win_loser"][wins[0]] == seat:
        hand.remove(won_with)  # drawn: it is in the hand
    length = int(table["river_length"][seat])
    river = [[int(table["river"][seat][i]), int(table["river_flags"][seat][i])] for i in range(length)]
    melds = [_meld(table, seat, i) for i in range(int(table["num_melds"][seat]))]
    has_riichi = bool(table["riichi"][seat])
    return {"hand": hand, "won_with": won_with, "melds": melds, "river": river, "has_riichi": has_riichi}


def _meld(table: Any, seat: int, index: int) -> dict[str, Any]:
    """Return a meld as it lies on the table: the taken tile stands where the seat is that it came from."""
    meld, lowest = int(table["meld_type"][seat, index]), int(table["meld_kind"][seat, index])
    claimed, num_red = int(table["meld_tile"][seat, index]), int(table["meld_red"][seat, index])
    kinds = [lowest, lowest + 1, lowest + 2] if meld == CHI_MELD else [lowest] * meld_size(meld)
    faces = list(kinds)
    for _ in range(num_red):
        five = next(i for i, face in enumerate(faces) if is_five(face))
        faces[five] = NUM_KINDS + faces[five] // 9
    if meld == ANKAN_MELD:
        return {"faces": faces, "taken": None, "is_hidden": True}
    same = [face for face in faces if face == claimed] or [f for f in faces if kind_of_face(f) == kind_of_face(claimed)]
    faces.remove(same[0])
    place = {3: 0, 2: 1, 1: len(faces)}[(int(table["meld_from"][seat, index]) - seat) % SEATS]
    return {"faces": [*faces[:place], same[0], *faces[place:]], "taken": place, "is_hidden": False}


def _result(table: Any, names: Sequence[str]) -> str:
    wins = [_win(table, w, names) for w in range(int(table["num_wins"]))]
    if wins:
        return "; ".join(wins)
    tenpai = [names[seat] for seat in range(SEATS) if table["tenpai"][seat]]
    name = DRAW_NAMES[int(table["result"])]
    return f"{name[0].upper()}{name[1:]}" + (f", tenpai: {', '.join(tenpai)}" if tenpai else "")


def _win(table: Any, w: int, names: Sequence[str]) -> str:
    winner, loser = int(table["win_seat"][w]), int(table["win_loser"][w])
    how = "by tsumo" if winner == loser else f"by ron from {names[loser]}"
    points, yaku = int(table["win_points"][w]), ", ".join(win_yaku(table, w))
    return f"{names[winner]} wins {how}: {win_value(table, w)}, {points:,} points ({yaku})"
