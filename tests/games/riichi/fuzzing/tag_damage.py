"""Damage to mjlog records tag by tag: order, attributes, numbers, nesting, two games in one."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from tests.games.riichi.fuzzing.fuzz_seed import SHUFFLE_SEED, Seed

Tags = list[str]
Damage = Callable[[Random, Tags, Seed], None]

VALUES = (
    "", "-1", "0", "3", "4", "12", "34", "99", "135", "136", "255", "256", "999", "65535", "999999999", "2147483648",
    "-2147483649", "99999999999999999999", "1,2", "1,,2", ",", "a", "%", "%ff", "１", "1e9", "nan", "inf", "0x10",
    "\x00",
    "mt19937ar,1,2", "mt19937ar-sha512-n288,1,2", "mt19937ar,",
    "&lt;", "&x;", "'", "1_000", " 1", "\n", "ⓝ", "1," * 500 + "1", SHUFFLE_SEED,
)  # fmt: skip
STRANGE_TAGS = (
    "<>", "</>", "<T1>", "<T999/>", "<T136/>", "<D/>", "<X/>", "</INIT>", "<mjloggm>", "</mjloggm>", "<!-- -->", "<!--",
    "<![CDATA[<T1/>]]>", "<?xml?>", '<!DOCTYPE a [<!ENTITY x "y">]>', "<DORA/>", '<DORA hai="136"/>', "<INIT/>",
    "text", "&x;",
    '<REACH who="4" step="1"/>', '<REACH who="0" step="3"/>', '<BYE who="1"/>', '<UN n1="%41"/>',
    '<N who="0" m="65535"/>',
    '<INIT shuffle="mt19937ar,1,2"/>', "<!-- a -- b -->", "<T1></T1>", "<T1> </T1>",
    "<RYUUKYOKU/>", '<RYUUKYOKU type="ron3" ba="0,0" sc="250,0,250,0,250,0,250,0"/>', "<AGARI/>", "<" * 50, "<a " * 50,
)  # fmt: skip

_NUMBER = re.compile(r"-?[0-9]+")
_VALUE = re.compile(r'="([^"]*)"')
_TURN = re.compile(r"<([DEFGTUVW])([0-9]+)/>")


def damage_tags(random: Random, seed: Seed, other: Seed) -> str:
    """Return the text of ``seed`` damaged in one way or a few; ``other`` is the game that it is mixed with."""
    tags = list(seed.tags)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        random.choice(_DAMAGES)(random, tags, other)
    return "".join(tags)


def _index(random: Random, tags: Tags) -> int:
    """Return the place of a tag; the ends of the record, where little happens that is not a draw, come more often."""
    if random.random() < 0.3:
        return random.choice([i for i, tag in enumerate(tags) if "=" in tag] or [0])
    return random.randrange(len(tags))


def drop(random: Random, tags: Tags, other: Seed) -> None:
    if len(tags) > 1:
        del tags[_index(random, tags)]


def repeat(random: Random, tags: Tags, other: Seed) -> None:
    index = _index(random, tags)
    tags.insert(index, tags[index])


def swap(random: Random, tags: Tags, other: Seed) -> None:
    first = _index(random, tags)
    second = min(first + 1, len(tags) - 1) if random.random() < 0.5 else _index(random, tags)
    tags[first], tags[second] = tags[second], tags[first]


def insert_strange(random: Random, tags: Tags, other: Seed) -> None:
    tags.insert(_index(random, tags), random.choice(STRANGE_TAGS))


def insert_other(random: Random, tags: Tags, other: Seed) -> None:
    tags.insert(_index(random, tags), random.choice(other.tags))


def splice_other(random: Random, tags: Tags, other: Seed) -> None:
    """Go on as another game from here, or from its same place."""
    place = random.randrange(len(tags))
    tags[place:] = other.tags[
        min(place, len(other.tags) - 1) if random.random() < 0.5 else random.randrange(len(other.tags)) :
    ]


def append_deals(random: Random, tags: Tags, other: Seed) -> None:
    """Put the deals of another game, or the own ones again, before the end."""
    deals = other.tags if random.random() < 0.5 else tuple(tags)
    start = next((i for i, tag in enumerate(deals) if tag.startswith("<INIT")), 0)
    tags[-1:-1] = deals[start:-1]


def change_value(random: Random, tags: Tags, other: Seed) -> None:
    """Replace one value, one number in it, or take a value of another tag."""
    with_values = [i for i, tag in enumerate(tags) if "=" in tag]
    if not with_values:
        return
    index = random.choice(with_values)
    places = [match.span(1) for match in _VALUE.finditer(tags[index])]
    if not places:
        return
    start, end = random.choice(places)
    tag = tags[index]
    new = random.choice(VALUES)
    kind = random.randrange(3)
    if kind == 0:
        new = _with_number(random, tag[start:end], new)
    elif kind == 1:
        values = _VALUE.findall(tags[random.choice(with_values)])
        new = random.choice(values) if values else new
    tags[index] = tag[:start] + new + tag[end:]


def _with_number(random: Random, value: str, new: str) -> str:
    numbers = [match.span() for match in _NUMBER.finditer(value)]
    if not numbers:
        return new
    start, end = random.choice(numbers)
    if random.random() < 0.6:
        new = str(int(value[start:end]) + random.choice((-100, -4, -1, 1, 4, 128, 256)))
    return value[:start] + new + value[end:]


def change_names(random: Random, tags: Tags, other: Seed) -> None:
    """Drop, repeat or rename an attribute."""
    index = _index(random, tags)
    parts = tags[index].split(" ")
    if len(parts) < 2:
        return
    place = random.randrange(1, len(parts))
    kind = random.randrange(3)
    if kind == 0:
        del parts[place]
    elif kind == 1:
        parts.insert(place, parts[place])
    else:
        parts[place] = (
            random.choice(("who", "hai0", "ten", "sc", "m", "x", "")) + parts[place][parts[place].find("=") :]
        )
    tags[index] = " ".join(parts)


def swap_tiles(random: Random, tags: Tags, other: Seed) -> None:
    """Let two tiles change places in all draws and discards, and perhaps in the hands: often still a sound game."""
    first, second = random.randrange(136), random.randrange(136)
    names = {str(first): str(second), str(second): str(first)}
    has_hands = random.random() < 0.7
    for i, tag in enumerate(tags):
        turn = _TURN.fullmatch(tag)
        if turn is not None:
            tags[i] = f"<{turn[1]}{names.get(turn[2], turn[2])}/>"
        elif has_hands and tag.startswith(("<INIT", "<AGARI", "<RYUU", "<DORA")):
            tags[i] = _VALUE.sub(lambda m: f'="{_NUMBER.sub(lambda n: names.get(n[0], n[0]), m[1])}"', tag)


def change_turn(random: Random, tags: Tags, other: Seed) -> None:
    """Give one draw or discard to another seat, or another tile."""
    turns = [i for i, tag in enumerate(tags) if _TURN.fullmatch(tag)]
    if turns:
        index = random.choice(turns)
        letter, tile = tags[index][1], tags[index][2:-2]
        if random.random() < 0.5:
            letter = random.choice("DEFGTUVW")
        else:
            tile = str(random.choice((random.randrange(136), random.randrange(1000))))
        tags[index] = f"<{letter}{tile}/>"


def change_call(random: Random, tags: Tags, other: Seed) -> None:
    """Change who calls or what, or let somebody call where nobody did."""
    calls = [i for i, tag in enumerate(tags) if tag.startswith("<N ")]
    call = f'<N who="{random.randrange(4)}" m="{random.getrandbits(16)}" />'
    if not calls or random.random() < 0.3:
        tags.insert(random.randrange(len(tags)), call)
        return
    index = random.choice(calls)
    code = int((_NUMBER.findall(tags[index]) or ["0"])[-1]) ^ 1 << random.randrange(16)
    who = re.findall(r'who="([^"]*)"', tags[index])
    tags[index] = call if random.random() < 0.4 else f'<N who="{who[0] if who else 0}" m="{code}" />'


def repeat_all(random: Random, tags: Tags, other: Seed) -> None:
    """Write the record twice, or each of its tags."""
    tags[:] = tags * 2 if random.random() < 0.5 else [tag for tag in tags for _ in range(2)]


_DAMAGES: tuple[Damage, ...] = (
    drop, repeat, swap, swap, insert_strange, insert_other, splice_other, append_deals, change_value, change_value,
    change_value, change_names, swap_tiles, swap_tiles, change_turn, change_turn, change_call, change_call, repeat_all,
)  # fmt: skip
