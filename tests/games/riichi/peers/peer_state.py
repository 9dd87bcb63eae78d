"""What is on the table, by this engine and by PyPI ``riichienv``, in the same words."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
from riichienv import MeldType, get_yaku_by_id

from suphx.games.riichi.engine.legal import tiles_left
from suphx.games.riichi.table.table import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, PON_MELD
from suphx.games.riichi.table.tile import RED_IDS
from suphx.games.riichi.table.wall import DORA_POSITIONS
from tests.games.riichi.peers.peer_action import FACES

View = dict[str, Any]

_BETWEEN_DEALS = ("start_game", "end_kyoku", "end_game")
_REASONS = {  # the peer's names of draws: ours
    "exhaustive_draw": "fanpai",
    "kyushu_kyuhai": "kyushukyuhai",
    "sufuurenta": "suufonrenta",
    "suucha_riichi": "suuchareach",
    "suukansansen": "suukaikan",
}

_MELD_TYPES = {
    int(MeldType.Chi): CHI_MELD,
    int(MeldType.Pon): PON_MELD,
    int(MeldType.Daiminkan): MINKAN_MELD,
    int(MeldType.Ankan): ANKAN_MELD,
    int(MeldType.Kakan): KAKAN_MELD,
}


def our_round(t: Any) -> View:
    """Return which deal it is and what everybody has."""
    return {
        "kyoku": int(t["kyoku"]),
        "honba": int(t["honba"]),
        "sticks": int(t["kyotaku"]),
        "scores": t["scores"].tolist(),
    }


def their_round(env: Any) -> View:
    """Return the same by the peer."""
    return {
        "kyoku": 4 * env.round_wind + env.oya,
        "honba": env.honba,
        "sticks": env.riichi_sticks,
        "scores": env.scores(),
    }


def our_view(t: Any) -> View:
    """Return everything that both engines show between two decisions."""
    return our_round(t) | {
        "left": int(tiles_left(t)),
        "dora": [FACES[t["wall"][DORA_POSITIONS[i]]] for i in range(t["num_dora"])],
        "riichi": (t["riichi"] != 0).tolist(),
        "hands": [_our_hand(t["hand"][seat], int(t["red"][seat])) for seat in range(4)],
        "rivers": [t["river"][seat, : t["river_length"][seat]].tolist() for seat in range(4)],
        "melds": [_our_melds(t, seat) for seat in range(4)],
    }


def their_view(env: Any) -> View:
    """Return the same by the peer."""
    return their_round(env) | {
        "left": len(env.wall) - 14,
        "dora": [FACES[tile] for tile in env.dora_indicators],
        "riichi": [a or b for a, b in zip(env.riichi_declared, env.riichi_stage, strict=True)],
        "hands": [sorted(FACES[tile] for tile in hand) for hand in env.hands],
        "rivers": [[FACES[tile] for tile in river] for river in env.discards],
        "melds": [[_their_meld(meld, seat) for meld in melds] for seat, melds in enumerate(env.melds)],
    }


def _our_hand(counts: np.ndarray[Any, Any], red: int) -> list[int]:
    """Return the faces of a hand in order."""
    counts = counts.copy()
    reds = [suit for suit in range(3) if red >> suit & 1]
    for suit in reds:
        counts[9 * suit + 4] -= 1
    return [*np.repeat(np.arange(34), counts).tolist(), *(34 + suit for suit in reds)]


def _our_melds(t: Any, seat: int) -> list[tuple[int, ...]]:
    """Return (type, lowest kind, red fives, claimed face, seat it came from) of every meld."""
    names = ("meld_type", "meld_kind", "meld_red", "meld_tile", "meld_from")
    num_melds = t["num_melds"][seat]
    return list(zip(*(t[name][seat, :num_melds].tolist() for name in names), strict=True))


def _their_meld(meld: Any, seat: int) -> tuple[int, ...]:
    reds = sum(tile in RED_IDS for tile in meld.tiles)
    claimed = -1 if meld.called_tile is None else FACES[meld.called_tile]
    source = seat if meld.from_who < 0 else meld.from_who
    return _MELD_TYPES[int(meld.meld_type)], min(meld.tiles) // 4, reds, claimed, source


def our_wins(t: Any) -> dict[int, View]:
    """Return yaku by Tenhou's numbers (52-54: dora, ura dora, red fives), han and fu of every winner."""
    wins = {}
    for w in range(t["num_wins"]):
        dora = [(52, "win_dora"), (53, "win_ura"), (54, "win_red")]
        yaku = [number for number in range(52) if int(t["win_yaku"][w]) >> number & 1]
        wins[int(t["win_seat"][w])] = {
            "yaku": [*yaku, *(number for number, name in dora if t[name][w] > 0)],
            "han": int(t["win_han"][w]) + 13 * int(t["win_yakuman"][w]),
            "fu": int(t["win_fu"][w]),
        }
    return wins


def their_wins(results: dict[int, Any], kyoku: int) -> dict[int, View]:
    """Return the same of the peer's results."""
    return {
        seat: {
            "yaku": sorted(yaku_number(yaku, (seat - kyoku) % 4, kyoku // 4) for yaku in result.yaku),
            "han": result.han,
            "fu": 0 if result.yakuman else result.fu,
        }
        for seat, result in results.items()
    }


def yaku_number(yaku: int, seat_wind: int, round_wind: int) -> int:
    """Return Tenhou's number; the peer has one number for all seat winds and one for all round winds."""
    number = int(get_yaku_by_id(yaku).tenhou_id)
    return number + (seat_wind if number == 10 else round_wind if number == 14 else 0)


def plain_events(events: Iterable[View]) -> list[View]:
    """Return the mjai events of one deal, or of our whole game, without what a writer is free to choose."""
    return [_plain(event) for event in events if event["type"] not in _BETWEEN_DEALS]


def _plain(event: View) -> View:
    """Sort tiles whose order means nothing; drop what only one writer says; call draws by one name."""
    plain = {key: value for key, value in event.items() if key not in ("tenpais", "tsumo") and value != []}
    if plain["type"] == "ankan":
        plain.pop("pai", None)
    if "consumed" in plain:
        plain["consumed"] = sorted(plain["consumed"])
    if "tehais" in plain:
        plain["tehais"] = [sorted(hand) for hand in plain["tehais"]]
    if "reason" in plain:
        plain["reason"] = _REASONS.get(plain["reason"], plain["reason"])
    return plain


def split_deals(events: list[View]) -> list[list[View]]:
    """Return the events of each deal."""
    starts = [i for i, event in enumerate(events) if event["type"] == "start_kyoku"]
    return [events[a:b] for a, b in itertools.pairwise([*starts, len(events)])]
