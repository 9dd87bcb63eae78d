"""A recorded deal as lines that a person can read: start, turns, calls, riichi, the end with han, fu and points."""

from __future__ import annotations

from typing import Any

from suphx.games.riichi.records.log.gamelog import GameLog, KyokuLog
from suphx.games.riichi.records.view.kyoku_walk import KyokuWalk
from suphx.games.riichi.records.view.result_text import DRAW_NAMES, win_value, win_yaku
from suphx.games.riichi.records.view.shown_tiles import hand_faces
from suphx.games.riichi.table.action import (
    ANKAN,
    CHI,
    KAKAN,
    MINKAN,
    NINE_TERMINALS,
    PASS,
    PON,
    RIICHI,
    RON,
    TSUMO,
    TSUMOGIRI,
    action_name,
)
from suphx.games.riichi.table.table import WIN_RESULT
from suphx.games.riichi.table.tile import face_name, face_of_id, format_faces
from suphx.games.riichi.table.wall import DORA
from suphx.kernel.record import Records


def kyoku_name(kyoku: int, honba: int) -> str:
    """Return such as ``"East 1"`` or ``"South 4, honba 2"``."""
    name = f"{('East', 'South', 'West', 'North')[kyoku // 4]} {kyoku % 4 + 1}"
    return f"{name}, honba {honba}" if honba else name


def describe_kyoku(game: GameLog, index: int) -> list[str]:
    """Return the lines of deal ``index`` of ``game``; ValueError when its moves contradict the rules."""
    log = game.kyokus[index]
    walk = KyokuWalk(game, index)
    indicator = face_of_id(int(log.wall[DORA]), game.rules.red_bits)
    lines = [f"{kyoku_name(log.kyoku, log.honba)}, {log.kyotaku} sticks, dora indicator {face_name(indicator)}"]
    for seat in range(4):
        lines.append(f"  {game.names[seat]:<12} {log.scores[seat]:>6} points   {format_faces(_dealt(game, log, seat))}")
    for action, _ in walk:
        if action != PASS:
            lines.append(_describe_move(game, walk.table, action))
    return [*lines, *_describe_end(game, walk.tables)]


def _dealt(game: GameLog, log: KyokuLog, seat: int) -> list[int]:
    """Return the 13 faces that a seat starts with: three times four tiles from its place on, then one."""
    place = (seat - log.kyoku) % 4
    places = [16 * turn + 4 * place + i for turn in range(3) for i in range(4)] + [48 + place]
    return [face_of_id(int(log.wall[i]), game.rules.red_bits) for i in places]


def _describe_move(game: GameLog, table: Any, action: int) -> str:
    seat = int(table["actor"])
    name = f"  {game.names[seat]:<12}"
    drawn = int(table["drawn"])
    if action <= TSUMOGIRI:
        if drawn < 0:
            return f"{name} discards {face_name(action)}"
        tile = f"{face_name(drawn)}, tsumogiri" if action == TSUMOGIRI else face_name(action)
        return f"{name} draws {face_name(drawn)}, discards {tile}"
    if action == RIICHI:
        return f"{name} draws {face_name(drawn)}, declares riichi: {hand_text(table, seat)}"
    if action == TSUMO:
        return f"{name} draws {face_name(drawn)}, wins by tsumo: {hand_text(table, seat)}"
    claimed = face_name(int(table["claimed_face"])) if action >= RON else ""
    if action == RON:
        return f"{name} wins by ron on {claimed}: {hand_text(table, seat)}"
    if PON <= action <= MINKAN or CHI <= action < PASS:
        return f"{name} calls {action_name(action)} on {claimed}"
    assert action == NINE_TERMINALS or ANKAN <= action < KAKAN + 34
    return f"{name} {action_name(action)}"


def _describe_end(game: GameLog, tables: Records) -> list[str]:
    table: Any = tables[0]
    lines = []
    if table["result"] != WIN_RESULT:
        tenpai = [game.names[seat] for seat in range(4) if table["tenpai"][seat]]
        lines.append(f"  {DRAW_NAMES[int(table['result'])]}" + (f", tenpai: {', '.join(tenpai)}" if tenpai else ""))
    for w in range(int(table["num_wins"])):
        seat, points = int(table["win_seat"][w]), int(table["win_points"][w])
        lines.append(
            f"  {game.names[seat]:<12} {win_value(table, w)}, {points} points: {', '.join(win_yaku(table, w))}"
        )
    changes = ", ".join(f"{game.names[seat]} {int(table['deltas'][seat]):+}" for seat in range(4))
    return [*lines, f"  {changes}"]


def hand_text(table: Any, seat: int) -> str:
    """Return the concealed tiles of ``seat`` (0-3) at a TABLE record in short form: ``"13m067p5z"``, 0 = a red five."""
    return format_faces(hand_faces(table, seat))
