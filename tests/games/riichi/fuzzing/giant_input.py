"""Inputs that are huge, or small and become huge: each must be refused, or read in bounded memory and time."""

from __future__ import annotations

import gzip
import io
import lzma
import tarfile
from collections.abc import Callable
from functools import partial

from tests.games.riichi.fuzzing.file_damage import Files

_MEGABYTE = 1024 * 1024
_SIZE = 100 * _MEGABYTE
_START = b'{"type":"start_game"}\n'
_NAMES_BY_FORM = ("a.mjlog", "a.jsonl", "a.tsv")


def _one_line() -> Files:
    return dict.fromkeys(_NAMES_BY_FORM, b"x" * _SIZE)


def _blank_lines() -> Files:
    return {"a.tsv": b"\n" * (_SIZE // 10), "a.jsonl": _START + b"\n" * (_SIZE // 10)}


def _random_text() -> Files:
    piece = bytes(range(256)) * 4096
    return dict.fromkeys(_NAMES_BY_FORM, piece * (_SIZE // len(piece)))


def _tags() -> Files:
    tags = {
        "a": b"<T1/>",
        "b": b"<a>",
        "c": b"<",
        "d": b'<GO a="1"',
        "e": b'<INIT seed="' + b"1," * 5000,
        "f": b"<D1/> ",
    }
    record = 15 * _MEGABYTE
    texts = {f"{name}.mjlog": b"<mjloggm>" + tag * (record // len(tag)) for name, tag in tags.items()}
    return texts | {"g.mjlog": b"<mjloggm" + b" " * record, "h.mjlog": b'<mjloggm x="' + b"y" * record + b'">'}


def _json() -> Files:
    lines = {
        "a": b"[" * 10**7,
        "b": b'{"a":' * 10**6,
        "c": b"[" + b"{}," * 10**6,
        "d": b"1" * 10**7,
        "e": b'"' + b"\\u0041" * 10**6,
    }
    return {f"{name}.jsonl": _START + line + b"\n" for name, line in lines.items()}


def _entities() -> Files:
    levels = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 12))
    return {"a.xml": f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY l0 "lol">{levels}]><mjloggm ver="&l11;">'.encode()}


def _bombs() -> Files:
    zeros, lines = bytes(256 * _MEGABYTE), b"1\t\t<a/>\n" * (_MEGABYTE // 4)
    files: Files = {}
    for suffix, pack in ((".gz", partial(gzip.compress, compresslevel=1)), (".xz", partial(lzma.compress, preset=0))):
        files |= {f"{name}{suffix}": pack(zeros) for name in _NAMES_BY_FORM}
        files[f"b.tsv{suffix}"] = pack(lines)
    return files


def _archives() -> Files:
    """Return an archive of a giant member, one of very many members, and packed ones with bombs as members."""
    giant, many, packed = io.BytesIO(), io.BytesIO(), io.BytesIO()
    bombs = _bombs()
    with tarfile.open(fileobj=giant, mode="w") as archive:
        _add(archive, "a.mjlog", bytes(_SIZE))
    with tarfile.open(fileobj=many, mode="w") as archive:
        for number in range(50_000):
            _add(archive, f"{number}.mjlog", b"<a/>")
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, data in bombs.items():
            _add(archive, name, data)
    return {
        "a.tar": giant.getvalue(),
        "b.tar.gz": gzip.compress(many.getvalue(), 1),
        "c.tgz": gzip.compress(packed.getvalue(), 1),
    }


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


def _seeds() -> Files:
    seeds = b"\n".join(b"%d\t%s" % (number, b"x" * 100_000) for number in range(1000))
    return {"games.tsv": b"none\t\t<a/>\n", "seeds.tsv": seeds}


GIANTS: dict[str, Callable[[], Files]] = {
    "100 MB in one line": _one_line,
    "blank lines": _blank_lines,
    "100 MB of bytes": _random_text,
    "tags": _tags,
    "JSON": _json,
    "entities": _entities,
    "bombs": _bombs,
    "archives": _archives,
    "seeds": _seeds,
}
