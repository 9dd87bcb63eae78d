"""Damage to any bytes, whatever they mean: bits, spans, ends, charsets."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

Damage = Callable[[Random, bytes], bytes]


def damage_bytes(random: Random, data: bytes) -> bytes:
    """Return ``data`` damaged in one way, or in a few ways one after another."""
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        data = random.choice(_DAMAGES)(random, data)
    return data


def _place(random: Random, data: bytes) -> int:
    return random.randrange(len(data) + 1)


def _span(random: Random, data: bytes) -> tuple[int, int]:
    start = _place(random, data)
    return start, min(len(data), start + random.choice((1, 2, 8, 64, 1024)))


def truncate(random: Random, data: bytes) -> bytes:
    """Cut off the end."""
    return data[: _place(random, data)]


def flip_bits(random: Random, data: bytes) -> bytes:
    """Turn over up to eight bits."""
    changed = bytearray(data)
    for _ in range(random.randint(1, 8) if data else 0):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def insert_bytes(random: Random, data: bytes) -> bytes:
    """Put random bytes in."""
    place = _place(random, data)
    return data[:place] + random.randbytes(random.choice((1, 2, 7, 300))) + data[place:]


def delete_span(random: Random, data: bytes) -> bytes:
    """Take a span out."""
    start, end = _span(random, data)
    return data[:start] + data[end:]


def repeat_span(random: Random, data: bytes) -> bytes:
    """Say a span again, up to fifty times."""
    start, end = _span(random, data)
    return data[:end] + data[start:end] * random.choice((1, 2, 50)) + data[end:]


def move_span(random: Random, data: bytes) -> bytes:
    """Take a span out and put it in elsewhere."""
    start, end = _span(random, data)
    rest = data[:start] + data[end:]
    place = _place(random, rest)
    return rest[:place] + data[start:end] + rest[place:]


def overwrite(random: Random, data: bytes) -> bytes:
    """Replace a span by one byte repeated: zeros, spaces, ends of lines, brackets."""
    start, end = _span(random, data)
    return (
        data[:start]
        + random.choice((b"\x00", b" ", b"\n", b"\xff", b"<", b'"', b"[", b"\t")) * (end - start)
        + data[end:]
    )


def change_charset(random: Random, data: bytes) -> bytes:
    """Write the text in another charset, with or without its mark."""
    text = data.decode("utf-8", "replace")
    name = random.choice(("utf-16", "utf-16-be", "utf-32", "utf-8-sig", "latin-1", "shift_jis", "utf-7"))
    return text.encode(name, "replace")


_DAMAGES: tuple[Damage, ...] = (
    truncate,
    flip_bits,
    flip_bits,
    insert_bytes,
    delete_span,
    repeat_span,
    move_span,
    overwrite,
    change_charset,
)
