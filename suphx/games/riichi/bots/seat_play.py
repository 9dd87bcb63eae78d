"""Tables from the view of one seat: scripted players answer for the others, and the seat's planes go into its row.

These kernels do the work of all environments (suphx/environments). Each writes into the rows of its caller's arrays, so
that hundreds of tables cost no copy.
"""

from __future__ import annotations

from suphx.games.riichi.bots.scripted_play import choose_scripted
from suphx.games.riichi.engine.kyoku import step
from suphx.games.riichi.engine.simulator import finish_kyoku
from suphx.games.riichi.features.decision_planes import encode_decision
from suphx.games.riichi.features.encoder import encode_observation
from suphx.games.riichi.features.head import DISCARD_HEAD
from suphx.games.riichi.features.lookahead.lookup import Lookup
from suphx.games.riichi.hand.suit_table import Suits
from suphx.games.riichi.table.table import GAME_END, KYOKU_END, Table
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I32, I64, U8, Records

EVERY_SEAT = -1
"""The player's seat at a table where it answers for all four seats."""
NO_SCRIPT = -1
"""The script of an opponent that is no scripted agent: ``play_to_seats`` stops at its decisions."""


@jit
def advance_tables(tables: Records, suits: Suits, indices: I64, actions: I64, settled: I32) -> None:
    """Apply one legal action at each of the tables ``indices``; a kyoku that ends is followed by the next one.

    ``settled``, int32 [n, 4], gets the scores of a table when a kyoku ends: those between kyokus, without the sticks of
    the present one.
    """
    for i in range(len(indices)):
        _advance(tables[indices[i]], suits, actions[i], settled[indices[i]])


@jit
def play_to_seats(
    tables: Records, suits: Suits, indices: I64, seats: I64, scripts: I64, settled: I32
) -> None:  # fmt: skip
    """Play the scripted opponents of the tables ``indices`` until the player decides or the game is over.

    ``seats``, int64 (n,): the player's seat of each table, or EVERY_SEAT. ``scripts``, int64 (4,): the scripted agent
    of each seat (``choose_scripted``), counted from the player's, or NO_SCRIPT. ``settled`` as in ``advance_tables``.
    """
    for i in range(len(indices)):
        index = indices[i]
        t = tables[index]
        seat = seats[index]
        while seat != EVERY_SEAT and t.phase != GAME_END and t.actor != seat:
            script = scripts[(t.actor - seat) % 4]
            if script == NO_SCRIPT:
                break
            _advance(t, suits, choose_scripted(t, suits, script), settled[index])


@jit
def _advance(t: Table, suits: Suits, action: int, settled: I32) -> None:
    step(t, suits, action)
    if t.phase == KYOKU_END:
        finish_kyoku(t, suits)
        settled[:] = t.scores


@jit
def see_tables(
    encoder_id: int, num_planes: int, lookup: Lookup, tables: Records, indices: I64, seats: I64, rows: U8, masks: I8
) -> None:  # fmt: skip
    """Fill the rows ``indices`` of ``rows``, uint8 [n, observation_bytes], and ``masks``, int8 [n, 120], for a seat.

    A row has the ``num_planes`` public planes of the encoder, and behind them those of the decision
    (``decision_layout``). ``seats``, int64 (n,): the observing seat of each table, or EVERY_SEAT for the one that
    decides. The mask has the legal actions of a seat that decides and is empty for the others, and for all at the end
    of a game.
    """
    for i in range(len(indices)):
        index = indices[i]
        t = tables[index]
        masks[index, :] = 0
        seat = t.actor if seats[index] == EVERY_SEAT else seats[index]
        encode_observation(encoder_id, lookup, t, seat, DISCARD_HEAD, -1, rows[index])
        encode_decision(t, seat, num_planes, rows[index])
        if seat == t.actor and t.phase != GAME_END:
            masks[index, :] = t.legal


@jit
def fill_planes(rows: U8, indices: I64, planes: U8) -> None:
    """Unpack ``indices`` of ``rows``, uint8 [n, observation_bytes], into ``planes``, uint8 [n, columns] of 0 and 1."""
    num_columns = planes.shape[1]
    for i in range(len(indices)):
        row = rows[indices[i]]
        unpacked = planes[indices[i]]
        for byte in range(num_columns >> 3):
            bits = row[byte]
            for k in range(8):
                unpacked[8 * byte + k] = bits >> k & 1
        for column in range(num_columns & ~7, num_columns):
            unpacked[column] = row[column >> 3] >> (column & 7) & 1
