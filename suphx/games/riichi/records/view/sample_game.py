"""A played game as plain values from which a page draws it: hands, melds, rivers and results, deal by deal.

``{"names": [4], "deals": [{"name", "dealer", "sticks", "dora": [face], "ura": [face], "scores": [4], "deltas": [4],
"result", "seats": [{"hand": [face], "won_with": face or null, "melds": [{"faces": [face], "taken": place or null,
"is_hidden"}], "river": [[face, flags]], "has_riichi"}]}], "final_scores": [4] or null}``. Faces are those of
table/tile.py, flags those of table/table.py. Ura dora indicators are given where somebody won with riichi.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from suphx.games.riichi.records.log.gamelog import GameLog
from suphx.games.riichi.records.view.recorded_decisions import KyokuWalk
from suphx.games.riichi.records.view.text import (
    DRAW_NAMES,
    SEATS,
    hand_faces,
    kyoku_name,
    names_in_deal,
    shown_meld,
    win_value,
    win_yaku,
)
from suphx.games.riichi.records.view.viewer_game import shown_ura
from suphx.games.riichi.table.tile import face_of_id
from suphx.games.riichi.table.wall import DORA_POSITIONS, URA_POSITIONS


def sample_game(game: GameLog, names: Sequence[str]) -> dict[str, Any]:
    """Return the game with its seats called ``names``; results add the wind of a seat that shares its name.

    ValueError when its moves contradict the rules.
    """
    deals = [_deal(game, index, names) for index in range(len(game.kyokus))]
    final = None if game.final_scores is None else [int(score) for score in game.final_scores]
    return {"names": list(names), "deals": deals, "final_scores": final}


def _deal(game: GameLog, index: int, names: Sequence[str]) -> dict[str, Any]:
    log, red = game.kyokus[index], game.rules.red_bits
    table = _played(game, index)
    # Riichi sticks paid in the deal belong to what it changed.
    is_last = index + 1 == len(game.kyokus)
    after = (game.final_scores or table["scores"]) if is_last else game.kyokus[index + 1].scores
    num_dora, num_ura = int(table["num_dora"]), shown_ura(table)
    return {
        "name": kyoku_name(log.kyoku, log.honba),
        "dealer": log.kyoku % SEATS,
        "sticks": log.kyotaku,
        "dora": [face_of_id(int(log.wall[position]), red) for position in DORA_POSITIONS[:num_dora]],
        "ura": [face_of_id(int(log.wall[position]), red) for position in URA_POSITIONS[:num_ura]],
        "scores": [int(score) for score in log.scores],
        "deltas": [int(then) - int(now) for now, then in zip(log.scores, after, strict=True)],
        "result": _result(table, names_in_deal(names, log.kyoku % SEATS)),
        "seats": [_seat(table, seat) for seat in range(SEATS)],
    }


def _played(game: GameLog, index: int) -> Any:
    """Return the table at the end of a deal."""
    walk = KyokuWalk(game, index)
    for _ in walk:
        pass
    return walk.table


def _seat(table: Any, seat: int) -> dict[str, Any]:
    hand = hand_faces(table, seat)
    wins = [w for w in range(int(table["num_wins"])) if table["win_seat"][w] == seat]
    won_with = int(table["win_face"][wins[0]]) if wins else None
    if won_with is not None and table["win_loser"][wins[0]] == seat:
        hand.remove(won_with)  # drawn: it is in the hand
    length = int(table["river_length"][seat])
    river = [[int(table["river"][seat][i]), int(table["river_flags"][seat][i])] for i in range(length)]
    melds = [shown_meld(table, seat, i) for i in range(int(table["num_melds"][seat]))]
    has_riichi = bool(table["riichi"][seat])
    return {"hand": hand, "won_with": won_with, "melds": melds, "river": river, "has_riichi": has_riichi}


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
