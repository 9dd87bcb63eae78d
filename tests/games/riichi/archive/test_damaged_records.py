"""Damaged files of every format: each is a game that the rules can replay and all can write, or an error that says why.

``FUZZ=50000 pytest tests/games/riichi/archive/test_damaged_records.py`` tries as many of each kind (``make fuzz``).
"""

from __future__ import annotations

import bz2
import contextlib
import dataclasses
import gzip
import json
import lzma
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.archive.store import GAME, KYOKU, KyokuStore, write_store
from suphx.games.riichi.features.samples import encode_kyokus
from suphx.games.riichi.names import HEAD_NAMES
from suphx.games.riichi.records.game_log import ACTION_BITS, GameLog, move
from suphx.games.riichi.records.mjai import write_mjai
from suphx.games.riichi.records.mjlog import write_mjlog
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.records.replay import process_replayer
from suphx.games.riichi.records.tenhou6 import write_tenhou6
from suphx.games.riichi.records.viewer_game import viewer_game
from suphx.games.riichi.table import NUM_ACTIONS, RESULT, TSUMOGIRI
from tests.games.riichi.builders.games import random_game
from tests.games.riichi.builders.packed_files import tar_of, zip_of
from tests.repository import REPOSITORY

NUM_EXAMPLES = int(os.environ.get("FUZZ", "150"))
many = settings(max_examples=NUM_EXAMPLES, derandomize="FUZZ" not in os.environ)

GAMES = [dataclasses.replace(random_game(seed), kyokus=random_game(seed).kyokus[:2]) for seed in (2, 3, 11)]
TAGS = [re.findall(r"<[^>]*>", write_mjlog(game)) for game in GAMES]
EVENTS = [write_mjai(game).splitlines() for game in GAMES]
OBJECTS = [write_tenhou6(game) for game in GAMES]

NUMBERS = ("-1", "0", "4", "34", "135", "136", "255", "65535", "2147483648", "99999999999999999999")
VALUES = (*NUMBERS, "", "1,2", "1,,2", "a", "%ff", "１", "1e9", "nan", "\x00", "&lt;", "&x;", "1," * 500 + "1")
STRANGE_TAGS = (
    "<>", "<T1>", "<T136/>", "<X/>", "</INIT>", "<mjloggm>", "</mjloggm>", "<!--", "<![CDATA[<T1/>]]>", "text", "&x;",
    '<!DOCTYPE a [<!ENTITY x "y">]>', '<REACH who="4" step="1"/>', '<REACH who="0" step="1"/>', '<BYE who="1"/>',
    '<UN n1="%41"/>', '<N who="0" m="65535"/>', '<N who="1" m="5"/>', "<AGARI/>", '<DORA hai="7"/>',
    '<RYUUKYOKU type="ron3" ba="0,0" sc="250,0,250,0,250,0,250,0"/>', '<INIT shuffle="mt19937ar,1,2"/>', "<" * 50,
)  # fmt: skip
STRANGE_LINES = (
    "", "{", "[]", "null", "NaN", "{}", '{"type":null}', '{"type":"start_game"}', '{"type":"end_game"}', "[" * 2000,
    '{"type":"hora"}', '{"type":"end_kyoku"}', '{"type":"dora","dora_marker":"1m"}', '{"a":' * 1200, "1" * 5000,
    '{"type":"reach","actor":0}', '{"type":"ryukyoku","reason":"sanchaho","deltas":[0,0,0,0]}',
    '{"type":"kakan","actor":0,"pai":"1m","consumed":["1m","1m","1m"]}',
)  # fmt: skip
JSON_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 4, 51, 60, 99, 2**63, 0.5, float("nan"), "", "?", "1m", "5mr", "N", "r60", "c111213", "\ud800",
    [], [0], [0, 0, 0, 0], ["1m"] * 13, [[]] * 4, {}, [1e300] * 4, "start_game", "和了", "流局",
)  # fmt: skip


@st.composite
def damaged_bytes(draw: st.DrawFn, data: bytes) -> bytes:
    """Cut, replace, repeat or add a span, once or twice."""
    for _ in range(draw(st.integers(1, 2))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.sampled_from((0, 1, 8, 64, 1024, len(data)))))
        span = draw(st.just(b"") | st.just(data[start:end] * 2) | st.binary(max_size=8))
        data = data[:start] + span + data[end:]
    return data


@st.composite
def damaged_parts(
    draw: st.DrawFn, seeds: Sequence[list[str]], strange: Sequence[str], change: Callable[[str], st.SearchStrategy[str]]
) -> list[str]:
    """Drop, repeat, swap, change or add tags or lines, once or a few times, also with those of another game."""
    parts = list(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 3))):
        if not parts:
            break
        first, second = draw(st.integers(0, len(parts) - 1)), draw(st.integers(0, len(parts) - 1))
        match draw(st.sampled_from(("drop", "repeat", "swap", "add", "splice", "change", "change"))):
            case "drop":
                del parts[first]
            case "repeat":
                parts.insert(second, parts[first])
            case "swap":
                parts[first], parts[second] = parts[second], parts[first]
            case "add":
                parts.insert(first, draw(st.sampled_from(strange)))
            case "splice":
                parts[first:] = draw(st.sampled_from(seeds))[first:]
            case "change":
                parts[first] = draw(change(parts[first]))
    return parts


@st.composite
def changed_tag(draw: st.DrawFn, tag: str) -> str:
    """Replace a value, or a number in it, or give a draw or a discard to another seat."""
    if "=" not in tag:
        return re.sub("[DEFGTUVW]", draw(st.sampled_from("DEFGTUVW")), tag, count=1)
    places = [match.span() for match in re.finditer(r'(?<=")[^"=]*(?=")|-?[0-9]+', tag)] or [(0, 0)]
    start, end = draw(st.sampled_from(places))
    return tag[:start] + draw(st.sampled_from(VALUES) | st.integers(0, 135).map(str)) + tag[end:]


@st.composite
def changed_json(draw: st.DrawFn, text: str) -> str:
    """Replace a value anywhere in an object."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    holder: Any = {"": value}
    key: Any = ""
    while isinstance(holder[key], dict | list) and holder[key] and draw(st.integers(0, 9)):
        holder = holder[key]
        key = draw(st.sampled_from(sorted(holder)) if isinstance(holder, dict) else st.integers(0, len(holder) - 1))
    if holder == {"": value}:
        return json.dumps(draw(st.sampled_from(JSON_VALUES)))
    holder[key] = draw(st.sampled_from(JSON_VALUES))
    return json.dumps(value)


mjlog_records = damaged_parts(TAGS, STRANGE_TAGS, changed_tag).map("".join)
mjai_records = damaged_parts(EVENTS, STRANGE_LINES, changed_json).map("\n".join)
tenhou6_records = st.sampled_from(OBJECTS).flatmap(changed_json).flatmap(changed_json)


def assert_read(files: dict[str, bytes]) -> None:
    """Read the files; replay, show and write what is read, and check that the rest has a reason."""
    quarantine = Quarantine()
    with tempfile.TemporaryDirectory() as name:
        for file, data in files.items():
            (Path(name) / file).write_bytes(data)
        for log in iter_records([Path(name)], quarantine=quarantine, is_fragment_allowed=True):
            use(log)
    assert all(entry.reason and entry.remedy for entry in quarantine.entries)


def use(log: GameLog) -> None:
    """Replay, show and write a game; only a ValueError may come of it."""
    process_replayer().replay(log)
    for show in (viewer_game, write_mjai, write_mjlog, write_tenhou6):
        with contextlib.suppress(ValueError):
            show(log)


@many
@given(mjlog_records)
def test_damaged_mjlog(text: str) -> None:
    assert_read({"a.mjlog": text.encode("utf-8", "replace")})


@many
@given(mjai_records)
def test_damaged_mjai(text: str) -> None:
    assert_read({"a.jsonl": text.encode("utf-8", "replace")})


@many
@given(tenhou6_records)
def test_damaged_tenhou6(text: str) -> None:
    assert_read({"a.json": text.encode("utf-8", "replace")})


def twice(name: str, data: bytes) -> dict[str, bytes]:
    return {name: data, "d/" * 60 + name: data}


PACKED: dict[str, Callable[[str, bytes], bytes]] = {
    ".gz": lambda name, data: gzip.compress(data, 1, mtime=0),
    ".xz": lambda name, data: lzma.compress(data, preset=0),
    ".bz2": lambda name, data: bz2.compress(data, 1),
    ".tar": lambda name, data: tar_of(twice(name, data)),
    ".tgz": lambda name, data: gzip.compress(tar_of(twice(name, data)), 1, mtime=0),
    ".zip": lambda name, data: zip_of(twice(name, data), zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA),
}


@many
@given(st.data())
def test_damaged_files_and_archives(data: st.DataObject) -> None:
    game = data.draw(st.integers(0, len(GAMES) - 1))
    table = "".join(f"{number}\t\t{''.join(tags)}\n" for number, tags in enumerate(TAGS))
    texts = {"a.mjlog": "".join(TAGS[game]), "a.json": OBJECTS[game], "games.tsv": table}
    name = data.draw(st.sampled_from(sorted(texts)))
    suffix = data.draw(st.sampled_from(sorted(PACKED)))
    packed = PACKED[suffix](name, texts[name].encode())
    assert_read(
        {name + suffix: data.draw(damaged_bytes(packed)), "seeds.tsv": data.draw(damaged_bytes(b"1\tx\n2\ty\n"))}
    )


@st.composite
def damaged_logs(draw: st.DrawFn) -> GameLog:
    """Return a game whose wall, moves, start or result have been changed: they may contradict each other."""
    game = draw(st.sampled_from(GAMES))
    kyoku = draw(st.sampled_from(game.kyokus))
    wall, moves, result = kyoku.wall.copy(), kyoku.moves.tolist(), kyoku.result.copy()
    changes: dict[str, Any] = {}
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, max(0, len(moves) - 1)))
        match draw(st.sampled_from(("wall", "insert", "replace", "drop", "cut", "tsumogiri", "start", "result"))):
            case "wall":
                tiles = draw(st.lists(st.integers(0, 135), min_size=2, max_size=2))
                wall[tiles] = wall[tiles[::-1]]
            case "insert":
                moves.insert(place, draw(any_move))
            case "replace":
                moves[place : place + 1] = [draw(any_move)]
            case "drop":
                del moves[place : place + 1]
            case "cut":
                del moves[place:]
            case "tsumogiri" if moves:
                moves[place] = move(moves[place] >> ACTION_BITS, TSUMOGIRI)
            case "start":
                changes["kyoku"] = draw(st.integers(0, 11))
                changes["scores"] = tuple(draw(st.sampled_from((0, 900, 25_000, -(10**8), 10**8))) for _ in range(4))
            case "result":
                field = draw(st.sampled_from(RESULT.names or ()))
                result[field] = draw(st.integers(-1, 8))
    damaged = dataclasses.replace(kyoku, wall=wall, moves=np.array(moves, np.uint16), result=result, **changes)
    return dataclasses.replace(game, kyokus=[damaged, *game.kyokus[1:]])


any_move = st.builds(move, st.integers(0, 3), st.integers(0, NUM_ACTIONS + 7)) | st.integers(0, 2**16 - 1)


@many
@given(damaged_logs())
def test_damaged_games(log: GameLog) -> None:
    use(log)


@many
@given(st.data())
def test_damaged_stores(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_store(GAMES[:2], folder)
        file, dtype = data.draw(st.sampled_from((("games.bin", GAME), ("kyokus.bin", KYOKU), ("moves.bin", None))))
        content = bytearray((folder / file).read_bytes())
        for _ in range(data.draw(st.integers(1, 4))):
            place = data.draw(st.integers(0, len(content) - 1))
            if dtype is not None:  # each field is as likely, however long it is
                kind, start = data.draw(st.sampled_from(list((dtype.fields or {}).values())))[:2]
                place += start - place % dtype.itemsize + data.draw(st.integers(0, kind.itemsize - 1))
            content[place] = data.draw(st.sampled_from((0, 1, 127, 128, 255)) | st.integers(0, 255))
        (folder / file).write_bytes(content)
        store = KyokuStore(folder)
        with contextlib.suppress(ValueError):
            assert len(store.game_ids) == store.num_games
        for index in range(store.num_kyokus):
            with contextlib.suppress(ValueError):
                encode_kyokus(store, np.array([index]), index % len(HEAD_NAMES))


@pytest.mark.slow
def test_no_kernel_reads_outside_its_arrays_for_damaged_games(tmp_path: Path) -> None:
    # A cache folder of its own: numba does not notice that compiled kernels lack the checks.
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "SUPHX_CACHE": str(tmp_path), "FUZZ": "1000"}
    arguments = ["-q", "-x", "-p", "no:cacheprovider", "-k", "damaged_games or damaged_stores", __file__]
    command = [sys.executable, "-m", "pytest", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=REPOSITORY, check=False)
    assert "2 passed" in done.stdout, done.stdout[-3000:]


MEGABYTE = 1024 * 1024
START = b'{"type":"start_game"}\n'


def giants() -> dict[str, bytes]:
    """Return files that are huge, or small and become huge."""
    files = dict.fromkeys(("line.mjlog", "line.jsonl", "line.tsv"), b"x" * 100 * MEGABYTE)
    files |= {"blank.tsv": b"\n" * 10 * MEGABYTE, "blank.jsonl": START + b"\n" * 10 * MEGABYTE}
    for number, tag in enumerate((b"<T1/>", b"<a>", b"<", b'<GO a="1"', b'<INIT seed="' + b"1," * 5000, b"<D1/> ")):
        files[f"tags{number}.mjlog"] = b"<mjloggm>" + tag * (15 * MEGABYTE // len(tag))
    files["attribute.mjlog"] = b'<mjloggm x="' + b"y" * 15 * MEGABYTE + b'">'
    for number, line in enumerate((b"[" * 10**7, b'{"a":' * 10**6, b"[" + b"{}," * 10**6, b"1" * 10**7)):
        files[f"json{number}.jsonl"] = START + line + b"\n"
    entities = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 12))
    files["entities.xml"] = f'<!DOCTYPE a [<!ENTITY l0 "lol">{entities}]><mjloggm ver="&l11;">'.encode()
    zeros, lines = bytes(256 * MEGABYTE), b"1\t\t<a/>\n" * 20_000
    bombs = {f"{name}.gz": gzip.compress(zeros, 1) for name in ("bomb.mjlog", "bomb.jsonl", "bomb.tsv")}
    bombs |= {"bomb.mjlog.xz": lzma.compress(zeros, preset=0), "lines.tsv.gz": gzip.compress(lines, 1)}
    for name, data in list(bombs.items()):
        bombs[f"{name}.tar"] = tar_of({name: data})
    seeds = b"\n".join(b"%d\t%s" % (number, b"x" * 100_000) for number in range(1000))
    return files | bombs | {"giant.tar": tar_of({"a.mjlog": zeros}), "games.tsv": b"0\t\t<a/>\n", "seeds.tsv": seeds}


@pytest.mark.slow
def test_giants_are_refused_in_bounded_memory(tmp_path: Path) -> None:
    for name, data in giants().items():
        (tmp_path / name).write_bytes(data)
    program = (
        "import resource, sys; from pathlib import Path; "
        "from suphx.games.riichi.archive.archive import iter_records; "
        "from suphx.games.riichi.records.quarantine import Quarantine; "
        "games = list(iter_records([Path(sys.argv[1])], quarantine=Quarantine())); "
        "print(len(games), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    num_games, peak_megabytes = map(int, done.stdout.split())
    assert num_games == 0
    assert peak_megabytes < 2048
