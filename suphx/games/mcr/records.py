"""Files of recorded games, and what ``suphx records`` does with them.

Forms: JSON lines of our own, the text of the contests, and Botzone's logs, a line each. Also read: logs of one seat,
and JSON lines that have the text of a game beside its walls and what a referee said of it (``text``, ``walls``,
``judged``, ``error``, ``players``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from suphx.games.game import PlayedGame
from suphx.games.mahjong.record_files import HandFiles
from suphx.games.mcr.botzone import game_log, parse_log
from suphx.games.mcr.record import GameRecord, judged_values, positions, read_judged, record_of
from suphx.games.mcr.record_text import parse_text, record_text
from suphx.games.mcr.seat_log import parse_seat_log
from suphx.games.mcr.table import ENDED, KIND_OF_NAME, NO_SEAT
from suphx.games.record_tools import Replay


def _from_json(values: Any) -> GameRecord:
    if isinstance(values, list):
        values = {"logs": values}
    if not isinstance(values, dict):
        raise ValueError(f"{values!r:.80} is not a JSON object of a game")
    if "game" in values:
        return GameRecord.from_json(values)
    if "requests" in values:
        return parse_seat_log(values)
    return _with_text(values) if "text" in values else parse_log(values)


def _with_text(values: Mapping[str, Any]) -> GameRecord:
    """Return the game of a JSON object that has its text."""
    try:
        walls, error = values.get("walls"), values.get("error")
        record = parse_text(values["text"], None if walls is None else [KIND_OF_NAME[name] for name in walls.split()])
        return replace(
            record,
            players=tuple(map(str, values.get("players") or ())),
            reply=str(error["reply"]) if error else "",
            judged=read_judged(values),
        )
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"this is not a game of MCR: {error!r} is missing or wrong") from error


FILES = HandFiles(
    {"botzone": (".json", lambda record: f"{json.dumps(game_log(record))}\n")},
    _from_json,
    parse_text,
    record_text,
    word="game",
)


def replay(record: GameRecord) -> Replay:
    """Play a recorded game again; ValueError for an illegal move, or where fan, score or a judged value differ."""
    end = positions(record)[-1]
    counts = {
        "decisions": len(record.moves),
        "known_walls": 4 * record.is_wall_known,
        "wins": int(end["winner"] != NO_SEAT),
        "illegal_replies": int(end["offender"] != NO_SEAT),
        "scores": int(record.score is not None),
        "judged_hands": 0,
    }
    if record.judged is not None:
        found, counts["judged_hands"] = judged_values(record)
        if (own := list(record.judged)) != found:
            said, by_rules = next(pair for pair in zip_longest(own, found) if pair[0] != pair[1])
            raise ValueError(f"the record's referee said {said} (fan, seat, how), by the rules it is {by_rules}")
    if end["phase"] != ENDED:
        return Replay(counts, None)
    played = record_of(end, record.rules, record.players, record.id)
    return Replay(counts, PlayedGame(record.id, tuple(end["score"].tolist()), played))
