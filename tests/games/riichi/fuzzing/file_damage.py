"""Damaged files of every form that records come in: alone, packed, in tables, archives and folders."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import re
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from suphx.games.riichi.records.mjlog_writer import write_mjlog
from tests.games.riichi.fuzzing.dressed_record import DRESSES
from tests.games.riichi.fuzzing.event_damage import VALUES, damage_events
from tests.games.riichi.fuzzing.fuzz_seed import SHUFFLE_SEED, Seed
from tests.games.riichi.fuzzing.log_damage import damage_log
from tests.games.riichi.fuzzing.tag_damage import damage_tags

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


Files: TypeAlias = dict[str, bytes]
"""Name in the folder -> content."""

Make = Callable[[Random, Sequence[Seed]], Files]

_NAMES = (
    "a.mjlog",
    "b.xml",
    "c.jsonl",
    "d.mjai",
    "e.json",
    "f.tsv",
    "games.tsv",
    "g.tar",
    "k.zip",
    "2022010100gm-0009-0000-00000000.html",
    "h.tgz",
    "i.mjlog.gz",
    "j.tsv.xz",
)
_SUFFIXES = ("mjlog", "jsonl", "tsv", "txt", "tar", "mjlog.gz", "jsonl.xz")
_FAST_PRESET = 0


def mjlog_record(random: Random, seeds: Sequence[Seed]) -> bytes:
    """Return one mjlog record: damaged by tags, bytes or moves, or sound."""
    seed, other = random.choice(seeds), random.choice(seeds)
    kind = random.random()
    if kind < 0.45:
        return _dressed(random, damage_tags(random, seed, other), 0.2).encode()
    if kind < 0.65:
        return damage_bytes(random, seed.mjlog.encode())
    if kind < 0.9:
        try:
            return write_mjlog(damage_log(random, seed.log)).encode()
        except ValueError:  # it cannot be written
            return damage_tags(random, seed, other).encode()
    return _dressed(random, seed.mjlog, 0.7).encode()


def _dressed(random: Random, text: str, share: float) -> str:
    """Change a record as people do, mostly without changing the game, if there is something to change."""
    if random.random() < share:
        with suppress(AssertionError, TypeError):
            return random.choice(list(DRESSES.values()))(text)
    return text


def mjai_record(random: Random, seeds: Sequence[Seed]) -> bytes:
    """Return one mjai record: damaged by events or bytes, or sound."""
    seed, other = random.choice(seeds), random.choice(seeds)
    kind = random.random()
    if kind < 0.65:
        return damage_events(random, seed, other).encode()
    return damage_bytes(random, seed.mjai.encode()) if kind < 0.9 else seed.mjai.encode()


def tenhou6_record(random: Random, seeds: Sequence[Seed]) -> bytes:
    """Return one record of tenhou.net/6: with other values, parts of another game or damaged bytes, or sound."""
    seed, other = random.choice(seeds), random.choice(seeds)
    kind = random.random()
    if kind < 0.3:
        return damage_bytes(random, seed.tenhou6.encode())
    game, second = json.loads(seed.tenhou6), json.loads(other.tenhou6)
    row, second_row = random.choice(game["log"]), random.choice(second["log"])
    for _ in range(random.randrange(3) if kind < 0.9 else 0):
        place = random.randrange(len(row))
        part = row[place]
        if not isinstance(part, list) or not part or random.random() < 0.2:
            row[place] = random.choice((*VALUES, second_row[place]))
        else:
            part[random.randrange(len(part))] = random.choice(
                (*VALUES, 60, 0, 51, "r60", "c111213", *second_row[place])
            )
    data = json.dumps(game, indent=random.choice((None, 1))).encode()
    return damaged_json(random, data) if kind < 0.4 else data


def _any_record(random: Random, seeds: Sequence[Seed]) -> bytes:
    return random.choices((mjlog_record, mjai_record, tenhou6_record), (6, 3, 1))[0](random, seeds)


def _damaged(random: Random, data: bytes, share: float = 0.4) -> bytes:
    return damage_bytes(random, data) if random.random() < share else data


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, 1, mtime=0)


def _xz(data: bytes) -> bytes:
    return lzma.compress(data, preset=_FAST_PRESET)


def _table(random: Random, seeds: Sequence[Seed]) -> bytes:
    lines = []
    for number in range(random.randint(1, 4)):
        record_id = random.choice((f"2022010100gm-0009-0000-{number:08x}", str(number), "", "x" * 60, "\x00", "ⓝ"))
        record = mjlog_record(random, seeds).replace(b"\n", b" ")
        lines.append(record_id.encode() + random.choice((b"\t\t", b"\t", b"\ttw=1\t", b" ")) + record)
    return random.choice((b"\n", b"\r\n", b"\n\n")).join(lines) + b"\n"


def _seed_table(random: Random) -> bytes:
    lines = [f"{number}\t{random.choice((SHUFFLE_SEED, SHUFFLE_SEED[:-7], 'mt19937ar,1', ''))}" for number in range(4)]
    return _damaged(random, "\n".join(lines).encode())


def _tar(random: Random, seeds: Sequence[Seed]) -> bytes:
    file = io.BytesIO()
    form = random.choice((tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT))
    with tarfile.open(fileobj=file, mode="w", format=form) as archive:
        for number in range(random.randint(0, 3)):
            data = _any_record(random, seeds)
            name = random.choice((f"{number}", "d/" * 40 + "n", "日本")) + "." + random.choice(_SUFFIXES)
            info = tarfile.TarInfo(name if form != tarfile.USTAR_FORMAT else f"{number}.mjlog")
            data = _gzip(data) if name.endswith(".gz") else data
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return _damaged(random, _damaged_headers(random, file.getvalue()))


def _zip(random: Random, seeds: Sequence[Seed]) -> bytes:
    file = io.BytesIO()
    method = random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    with zipfile.ZipFile(file, "w", method) as archive:
        for number in range(random.randint(0, 3)):
            name = f"{random.choice(('', 'd/' * 40, '日本'))}{number}.{random.choice(_SUFFIXES)}"
            data = _any_record(random, seeds)
            info = zipfile.ZipInfo(name)  # the same date in every run
            archive.writestr(info, _gzip(data) if name.endswith(".gz") else data, method)
    return _damaged(random, _damaged_directory(random, file.getvalue()))


def _damaged_directory(random: Random, data: bytes) -> bytes:
    """Change a field of a header, of the directory or of its end."""
    starts = [match.start() for match in re.finditer(rb"PK(?:\x01\x02|\x03\x04|\x05\x06)", data)]
    if random.random() < 0.5 or not starts:
        return data
    place, size = random.choice(starts) + random.randrange(4, 30), random.choice((1, 2, 4))
    field = random.choice((b"\x00", b"\x01", b"\x7f", b"\xff", random.randbytes(1))) * size
    return data[:place] + field + data[place + size :]


def _damaged_headers(random: Random, data: bytes) -> bytes:
    """Change bytes of a header, mostly with a sum that fits."""
    if random.random() < 0.5 or not data:
        return data
    start = random.choice([0, *(i for i in range(0, len(data) - 512, 512) if data[i + 257 : i + 262] == b"ustar")])
    header = bytearray(data[start : start + 512])
    place, size = random.choice(((0, 100), (124, 12), (156, 1), (257, 8), (345, 155)))
    header[place : place + size] = random.choice(
        (random.randbytes(size), b"7" * size, b"\xff" * size, b"\x80" + b"\x7f" * (size - 1), b"L" * size, b"x" * size)
    )[:size]
    if random.random() < 0.8:
        header[148:156] = b" " * 8
        header[148:156] = b"%06o\x00 " % sum(header)
    return data[:start] + bytes(header) + data[start + 512 :]


def _folder(random: Random, seeds: Sequence[Seed]) -> Files:
    return {name: _any_record(random, seeds) for name in random.sample(_NAMES, random.randint(1, 4))}


@dataclass(frozen=True, slots=True)
class RecordForm:
    """One form of record files, how to make a damaged one, and how many of a hundred inputs have it."""

    name: str
    weight: float
    make: Make


def _packed(name: str, pack: Callable[[bytes], bytes], content: Callable[[Random, Sequence[Seed]], bytes]) -> Make:
    return lambda random, seeds: {name: _damaged(random, pack(content(random, seeds)))}


RECORD_FORMS = (
    RecordForm("mjlog", 34, lambda random, seeds: {"a.mjlog": mjlog_record(random, seeds)}),
    RecordForm("mjlog, gzip", 5, _packed("a.mjlog", _gzip, mjlog_record)),
    RecordForm("mjlog, xz", 2, _packed("a.mjlog.xz", _xz, mjlog_record)),
    RecordForm("mjai", 16, lambda random, seeds: {"a.jsonl": mjai_record(random, seeds)}),
    RecordForm("mjai, gzip", 4, _packed("a.jsonl.gz", _gzip, mjai_record)),
    RecordForm("tenhou6", 12, lambda random, seeds: {"a.json": tenhou6_record(random, seeds)}),
    RecordForm("tenhou6, bzip2", 2, _packed("a.txt.bz2", bz2.compress, tenhou6_record)),
    RecordForm("table", 3, lambda r, s: {"games.tsv": _damaged(r, _table(r, s), 0.2), "seeds.tsv": _seed_table(r)}),
    RecordForm("table, xz", 2, _packed("games.tsv.xz", _xz, _table)),
    RecordForm("tar", 5, lambda random, seeds: {"a.tar": _tar(random, seeds)}),
    RecordForm("tar, gzip", 2, _packed("a.tar.gz", _gzip, _tar)),
    RecordForm("tar, xz", 2, _packed("a.tar.xz", _xz, _tar)),
    RecordForm("zip", 4, lambda random, seeds: {"a.zip": _zip(random, seeds)}),
    RecordForm("folder", 2, _folder),
)
