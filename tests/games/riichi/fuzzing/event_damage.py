"""Damage to mjai records event by event: order, keys, values, nesting, two games in one."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from suphx.games.riichi.records.mjai import TILE_NAMES
from tests.games.riichi.fuzzing.fuzz_seed import Seed

Events = list[Any]
Damage = Callable[[Random, Events, Seed], None]

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 3, 4, 34, 99, 136, 1000, 2**31, 2**63, -(2**70), 1.5, float("nan"), float("inf"), "",
    "?", "1m",
    "5mr", "0m", "10m", "E", "X", "N", "\ud800", "\x00", "x" * 100, [], [0], [0, 0, 0, 0], ["1m"] * 13, [[]] * 4, {},
    {"a": []},
    [1e300] * 4, [2**40] * 4, "start_game", "end_game", "fanpai", "sanchaho",
)  # fmt: skip
STRANGE_LINES = (
    "", "{", "}", "[]", "null", "NaN", "{}", '{"type":null}', '{"type":"none"}', '{"type":"hora"}',
    '{"type":"end_kyoku"}',
    '{"type":"start_game"}', '{"type":"end_game"}', '{"type":"dora","dora_marker":"1m"}', "\x00", "1" * 5000,
    "[" * 2000,
    '{"a":' * 1200, '{"type":"tsumo","type":"dahai"}', '{"type":"reach","actor":0}',
    '{"type":"reach_accepted","actor":0}',
    '{"type":"ryukyoku","reason":"sanchaho","deltas":[0,0,0,0]}',
    '{"type":"kakan","actor":0,"pai":"1m","consumed":["1m","1m","1m"]}',
)  # fmt: skip
_CALLS = ("chi", "pon", "daiminkan", "ankan", "kakan")
_NUM_CONSUMED = (2, 2, 3, 4, 3)


def damage_events(random: Random, seed: Seed, other: Seed) -> str:
    """Return the text of ``seed`` damaged in one way or a few; ``other`` is the game that it is mixed with."""
    events: Events = list(seed.events)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        random.choice(_DAMAGES)(random, events, other)
    return "\n".join(event if isinstance(event, str) else json.dumps(event) for event in events)


def _change(random: Random, events: Events, kinds: tuple[str, ...] = ()) -> dict[str, Any] | None:
    """Return a copy of an event, put in its place; of one of ``kinds`` if given."""
    places = [i for i, e in enumerate(events) if isinstance(e, dict) and (not kinds or e.get("type") in kinds)]
    if not places:
        return None
    index = random.choice(places)
    events[index] = dict(events[index])
    event: dict[str, Any] = events[index]
    return event


def drop(random: Random, events: Events, other: Seed) -> None:
    if len(events) > 1:
        del events[random.randrange(len(events))]


def repeat(random: Random, events: Events, other: Seed) -> None:
    index = random.randrange(len(events))
    events.insert(index, events[index])


def swap(random: Random, events: Events, other: Seed) -> None:
    first = random.randrange(len(events))
    second = min(first + 1, len(events) - 1) if random.random() < 0.5 else random.randrange(len(events))
    events[first], events[second] = events[second], events[first]


def insert_strange(random: Random, events: Events, other: Seed) -> None:
    events.insert(random.randrange(len(events) + 1), random.choice(STRANGE_LINES))


def insert_other(random: Random, events: Events, other: Seed) -> None:
    events.insert(random.randrange(len(events) + 1), random.choice(other.events))


def splice_other(random: Random, events: Events, other: Seed) -> None:
    events[random.randrange(len(events)) :] = other.events[random.randrange(len(other.events)) :]


def append_deals(random: Random, events: Events, other: Seed) -> None:
    events[-1:-1] = other.events[1:-1] if random.random() < 0.5 else events[1:-1]


def change_value(random: Random, events: Events, other: Seed) -> None:
    """Replace one value, or one inside a list."""
    event = _change(random, events)
    if event:
        key = random.choice(list(event))
        value = random.choice(VALUES)
        if isinstance(event[key], list) and event[key] and random.random() < 0.6:
            changed = list(event[key])
            changed[random.randrange(len(changed))] = value
            value = changed
        event[key] = value


def change_keys(random: Random, events: Events, other: Seed) -> None:
    """Drop a key, add a strange one, or let two change places."""
    event = _change(random, events)
    if not event:
        return
    first, second = random.choice(list(event)), random.choice(list(event))
    kind = random.randrange(3)
    if kind == 0:
        del event[first]
    elif kind == 1:
        event[random.choice(("actor", "reason", "scores", "ura_markers", "tenpais", "kyoku_first"))] = random.choice(
            VALUES
        )
    else:
        event[first], event[second] = event[second], event[first]


def change_tile(random: Random, events: Events, other: Seed) -> None:
    event = _change(random, events, ("tsumo", "dahai", "dora", "start_kyoku"))
    if event:
        key = "pai" if "pai" in event else "dora_marker"
        event[key] = random.choice(TILE_NAMES)


def swap_tiles(random: Random, events: Events, other: Seed) -> None:
    """Let two faces change places everywhere: mostly still a game that can be read, rarely a sound one."""
    first, second = random.choice(TILE_NAMES), random.choice(TILE_NAMES)
    for i, event in enumerate(events):
        text = event if isinstance(event, str) else json.dumps(event)
        marked = text.replace(f'"{first}"', "\x01").replace(f'"{second}"', f'"{first}"')
        events[i] = marked.replace("\x01", f'"{second}"')


def change_seat(random: Random, events: Events, other: Seed) -> None:
    event = _change(random, events, ("tsumo", "dahai", "reach", "reach_accepted", "hora", "kakan", *_CALLS))
    if event:
        event[random.choice(("actor", "target"))] = random.randrange(5)


def change_call(random: Random, events: Events, other: Seed) -> None:
    """Let somebody call where nobody did, or something else."""
    number = random.randrange(len(_CALLS))
    tiles = [random.choice(TILE_NAMES)] * (_NUM_CONSUMED[number] + 1)
    if number == 0:
        start = random.randrange(7) + 9 * random.randrange(3)
        tiles = [TILE_NAMES[start + step] for step in random.sample(range(3), 3)]
    seat = random.randrange(4)
    event = {
        "type": _CALLS[number],
        "actor": seat,
        "target": random.randrange(4),
        "pai": tiles[0],
        "consumed": tiles[1:],
    }
    events.insert(random.randrange(len(events) + 1), event)


def nest(random: Random, events: Events, other: Seed) -> None:
    """Nest a value as deep as JSON can just hold, or deeper."""
    event = _change(random, events)
    if event:
        key, depth = random.choice(list(event)), random.choice((10, 500, 900, 960, 970, 980, 990, 1100, 5000))
        text = json.dumps(event | {key: "\x01"})
        events[events.index(event)] = text.replace('"\\u0001"', "[" * depth + "]" * depth)


_DAMAGES: tuple[Damage, ...] = (
    drop, repeat, swap, insert_strange, insert_other, splice_other, append_deals, change_value, change_value,
    change_value,
    change_keys, change_tile, change_tile, swap_tiles, change_seat, change_call, nest,
)  # fmt: skip
