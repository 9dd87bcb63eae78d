"""Damage to an object of JSON that keeps it JSON."""

from __future__ import annotations

import json
from random import Random

from tests.games.riichi.fuzzing.event_damage import VALUES


def damaged_json(random: Random, data: bytes) -> bytes:
    """Change, drop or add a value anywhere in an object."""
    content = json.loads(data)
    place = content
    while True:
        key = random.choice(list(place))
        if not isinstance(place[key], dict) or not place[key] or random.random() < 0.3:
            break
        place = place[key]
    kind = random.randrange(3)
    if kind == 0:
        del place[key]
    else:
        place[key if kind == 1 else "x"] = random.choice(VALUES)
    return json.dumps(content).encode()
