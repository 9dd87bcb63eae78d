"""Finds the texts of game records in files and folders; files without readable text are set aside (see archive.py).

In JSON that is not mjai with one event per line it finds objects of tenhou.net/6 on one line or several, one after
another or in an array, addresses of Tenhou's viewer that contain one, and arrays of mjai events.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, groupby
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from suphx.file_tree import files_below
from suphx.games.riichi.archive import record_stream
from suphx.games.riichi.match_tables import INDEX_FILE
from suphx.games.riichi.records.game_log import MAX_ID_BYTES
from suphx.games.riichi.records.quarantine import DAMAGED, NOT_A_RECORD, OTHER_FORMAT, TOO_LARGE, UNREADABLE, Quarantine
from suphx.json_text import parse_json

_ADDRESS = re.compile(r"https?://tenhou\.net/[0-9]+/[^#\s]*#json=(.*)", re.S)
_NON_SPACE = re.compile(r"\S")
_EVENT_LINE = re.compile(r'\{[^\n]*"type"\s*:')
_ARRAY = re.compile(r"\[\s*(?:\{|\]|$)")
_NO_JSON_GAME = "the JSON has no game: neither an mjai start_game nor the log of tenhou.net/6"
_MAX_NAME = 1000
_BLANKS = "\ufeff \t\r\n"


def is_game_text(start: str) -> bool:
    """Tell whether a text can be a game by how it begins: mjlog, JSON, or an address of Tenhou's viewer."""
    return re.match(r"<mjloggm|\{|\[\s*\{|https?://tenhou\.net/", start.lstrip(_BLANKS)) is not None


def is_mjai_text(text: str) -> bool:
    """Tell whether a text begins with an mjai event that is a whole line."""
    start = text.lstrip(_BLANKS)
    return _EVENT_LINE.match(start) is not None and not _is_one_game(start.partition("\n")[0])


def _is_one_game(line: str) -> bool:
    """Tell whether a line is a whole game of tenhou.net/6, or an address with one."""
    if _ADDRESS.match(line):
        return True
    try:
        return line.startswith("{") and "log" in parse_json(line)
    except ValueError:
        return False


def _json_games(text: str) -> Iterator[tuple[str, str]]:
    """Yield id (as tenhou.net/6 has it, or "") and text of each game; ValueError if it is not JSON, or has none."""
    num_games = 0
    events: list[Any] = []
    for value in chain(_json_values(text), [{"type": "start_game"}]):  # the last one ends the game before
        is_start = isinstance(value, dict) and value.get("type") == "start_game"
        if events and is_start:
            num_games += 1
            yield "", "\n".join(json.dumps(event, ensure_ascii=False) for event in events)
            events = []
        if isinstance(value, dict) and "log" in value:
            num_games += 1
            reference = value.get("ref")
            yield reference[:_MAX_NAME] if isinstance(reference, str) else "", json.dumps(value, ensure_ascii=False)
        elif events or is_start:
            events.append(value)
    if not num_games:
        raise ValueError(_NO_JSON_GAME)


def _json_values(text: str) -> Iterator[Any]:
    """Yield the values of a text; of an array its items."""
    text = text.strip(_BLANKS)
    address = _ADDRESS.match(text)
    if address is not None:
        text = address[1] if '"' in address[1] else unquote(address[1])
    decoder = json.JSONDecoder()
    place = 0
    while match := _NON_SPACE.search(text, place):
        try:
            value, place = decoder.raw_decode(text, match.start())
        except json.JSONDecodeError as error:
            raise ValueError(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from error
        except RecursionError as error:
            raise ValueError("JSON is nested too deeply") from error
        yield from value if isinstance(value, list) else [value]
        if address is not None:
            return  # the viewer's other parameters follow


_PACKED = (".gz", ".xz", ".bz2")
_MJLOG, _JSON, _TABLE, _TAR, _ZIP = "mjlog", "json", "table", "tar", "zip"
_KIND_OF_SUFFIX = {
    ".mjlog": _MJLOG,
    ".xml": _MJLOG,
    ".mjai": _JSON,
    ".jsonl": _JSON,
    ".json": _JSON,
    ".mjson": _JSON,
    ".tenhou6": _JSON,
    ".tsv": _TABLE,
    ".tar": _TAR,
    ".tgz": _TAR,
    ".zip": _ZIP,
}
_TENHOU_ID = re.compile(r"[0-9]{10}gm-[0-9a-f]{4}-[0-9]{4,}-[0-9a-fx]+(?![\w-])", re.ASCII)
_GAMES, _SEEDS = "games", "seeds"
_MAX_SEEDS_AHEAD = 50_000
_MAX_HEAD = 4096  # characters in which a web page shows what it is
_MAX_SEED_LINE_BYTES = 4096  # a seed has 3,357 characters

_NO_GAME = "it has neither a line with an mjai start_game nor the log of tenhou.net/6"
_HTML = re.compile(r"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|meta|title|script)\b", re.I | re.S)


@dataclass(frozen=True, slots=True)
class RawRecord:
    """The text of one record and where it was found."""

    source: str  # the file; ``archive.tar/member`` for a member of an archive
    position: str  # where in the file: "line 7", or "" for the whole file
    id: str  # of at most MAX_ID_BYTES: a longer one ends in a digest
    text: str
    seed: str | None = None  # the SHUFFLE seed, if a table beside the records has it


def iter_texts(
    paths: Sequence[Path], *, quarantine: Quarantine, read: record_stream.ReadShare | None = None
) -> Iterator[RawRecord]:
    """Yield the text of every record of files and folders (recursively, by name), in order; ``read`` opens the files.

    Files and folders in a folder whose names begin with a dot do not count: desktops and editors leave them.
    A file that is given itself is known by its content, whatever its name.
    ValueError, at the call, for a path that is missing or a folder without records.
    Damaged files and lines go to ``quarantine``; memory stays bounded whatever the files hold.
    """
    files = record_files(paths)
    share = read or record_stream.ReadShare()
    share.expect(sum(path.stat().st_size for path in files))

    def texts(path: Path) -> Iterator[RawRecord]:
        source = _Source(str(path), quarantine)
        seeds = None
        if _kind(path.name) == _TABLE and _unpacked_name(path.name).stem == _GAMES:
            places = (path.with_name(f"{_SEEDS}.tsv{packed}") for packed in ("", *_PACKED))
            seeds = next((place for place in places if place.is_file()), None)
        try:
            with share.open(path) as file:
                if _kind(path.name) == _ZIP:
                    yield from source.members(record_stream.iter_zip_members(file, path.stat().st_size))
                else:
                    yield from source.texts(path.name, file, seeds)
        except OSError as error:
            source.give_up(error)

    return chain.from_iterable(map(texts, files))


def record_files(paths: Sequence[Path]) -> list[Path]:
    """Return the files that ``iter_texts`` reads; errors as there."""
    files: list[Path] = []
    for path in paths:
        if not path.exists():
            raise ValueError(f"{path} does not exist: give a record file or a folder of records")
        own = [file for file in files_below(path) if _is_record_file(file)] if path.is_dir() else [path]
        if not own:
            known, packed = ", ".join(_KIND_OF_SUFFIX), ", ".join(_PACKED)
            raise ValueError(f"folder {path} has no game records: it needs files named {known}, plain or {packed}")
        if not own[0].is_file():
            raise ValueError(f"{path} is neither a file nor a folder: give a record file or a folder of records")
        files += own
    return files


def _is_record_file(path: Path) -> bool:
    if path.name == INDEX_FILE:  # of the tables of a match
        return False
    if _kind(path.name) or _unpacked_name(path.name).suffix.lower() != ".txt":
        return _kind(path.name) is not None
    # A text counts if it begins as a game does; license texts and notes of people do not.
    with path.open("rb") as file, suppress(OSError):
        return is_game_text(record_stream.unpacked(file).read(_MAX_HEAD).decode("utf-8", "replace"))
    return False


def _kind(name: str) -> str | None:
    """Return the form of a file by its name; None for other files, tables of seeds among them.

    A name with the id of a Tenhou game is that of an mjlog record whatever its suffix: browsers save addresses.
    """
    pure = _unpacked_name(name)
    kind = _KIND_OF_SUFFIX.get(pure.suffix.lower())
    if kind is None and _tenhou_id(name):
        return _MJLOG
    return None if kind == _TABLE and pure.stem == _SEEDS else kind


def _unpacked_name(name: str) -> PurePosixPath:
    pure = PurePosixPath(name)
    return PurePosixPath(pure.name).with_suffix("") if pure.suffix.lower() in _PACKED else PurePosixPath(pure.name)


def _tenhou_id(name: str) -> str | None:
    """Return the id of a Tenhou game in a name, an address, or a percent-encoded address."""
    match = _TENHOU_ID.search(unquote(name)) if "gm-" in name else None
    return match[0] if match else None


def _fitting_id(name: str) -> str:
    """Return the id of the Tenhou game in ``name``, or else ``name``, its end replaced by a digest if it is too long.

    Bytes of a file's name that are not UTF-8 become ``?``.
    """
    data = (_tenhou_id(name) or name).encode("utf-8", "replace")
    if len(data) <= MAX_ID_BYTES:
        return data.decode()
    digest = hashlib.sha256(data).hexdigest()[:16]
    return f"{data[: MAX_ID_BYTES - len(digest) - 1].decode('utf-8', 'ignore')}~{digest}"


class _Source:
    """One file, or one member of an archive, on its way to texts; ``position`` is how far it was read."""

    def __init__(self, name: str, quarantine: Quarantine) -> None:
        self.position = ""
        self._name = name
        self._quarantine = quarantine

    def give_up(self, error: OSError) -> None:
        """Set aside the rest of a file that cannot be read, or the whole of one that is not a record file."""
        if isinstance(error, record_stream.OtherFormat):
            self._refuse(self.position, str(error), OTHER_FORMAT)
        else:
            self._refuse(self.position, f"cannot be read further: {error or type(error).__name__}", UNREADABLE)

    def _refuse(self, position: str, reason: str, kind: str = NOT_A_RECORD) -> None:
        self._quarantine.add(self._name, position, reason, kind=kind)

    def texts(self, file_name: str, file: io.BufferedReader, seeds: Path | None = None) -> Iterator[RawRecord]:
        """Yield the records of a file; its name gives its form, or else its content."""
        content = record_stream.unpacked(file)
        kind = _kind(file_name)
        record_id = _tenhou_id(file_name) or _unpacked_name(file_name).stem
        if kind == _MJLOG:
            yield from self._record(record_id, "", record_stream.read_bounded(content))
        elif kind == _TABLE:
            yield from self._table(content, _Seeds(seeds, self._quarantine))
        elif kind == _TAR:
            yield from self.members(record_stream.iter_tar_members(content))
        else:
            yield from self._json_or_mjlog(record_id, content)

    def members(self, members: Iterable[record_stream.Member]) -> Iterator[RawRecord]:
        """Yield the records of the members of an archive."""
        for member in members:
            self.position = member.name
            kind = _kind(member.name)
            source = _Source(f"{self._name}/{member.name}", self._quarantine)
            if kind in (_TAR, _ZIP):
                source._refuse("", "an archive in an archive: unpack it", UNREADABLE)
            elif kind is not None:
                try:
                    yield from source.texts(member.name, member.file)
                except OSError as error:
                    source.give_up(error)

    def _record(
        self, record_id: str, position: str, data: bytes | None, seed: str | None = None
    ) -> Iterator[RawRecord]:
        if data is None:
            self._refuse(position, f"longer than {record_stream.MAX_RECORD_BYTES:,} bytes", TOO_LARGE)
            return
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            text = data.decode(errors="replace")  # names and chat of a game may be in another encoding
            if not is_game_text(text):
                self._refuse(position, f"not UTF-8: {error.reason} at byte {error.start}", DAMAGED)
                return
        if _HTML.match(text[:_MAX_HEAD]):
            self._refuse(position, "it is a web page, not a record")
            return
        yield RawRecord(self._name, position, _fitting_id(record_id), text, seed)

    def _lines(self, file: io.BufferedIOBase) -> Iterator[record_stream.Line]:
        """Yield the lines that are not blank."""
        for line in record_stream.iter_lines(file):
            self.position = f"line {line.number}"
            if line.data is None or line.data.strip():
                yield line

    def _table(self, file: io.BufferedIOBase, seeds: _Seeds) -> Iterator[RawRecord]:
        for line in self._lines(file):
            if line.data is None:
                yield from self._record("", self.position, None)
                continue
            first, tab, rest = line.data.rstrip(b"\r").partition(b"\t")
            if not tab:
                self._refuse(self.position, "the line is not: id, tab, anything, tab, record")
                continue
            record_id = first.decode("utf-8", "replace")
            yield from self._record(record_id, self.position, rest.rpartition(b"\t")[2], seeds.find(record_id))

    def _json_or_mjlog(self, record_id: str, file: io.BufferedIOBase) -> Iterator[RawRecord]:
        """Yield the games of a file of mjai lines or other JSON, or of an mjlog record in a file with such a name."""
        lines = self._lines(file)
        first = next(lines, record_stream.Line(1, b""))
        start = (first.data or b"").decode("utf-8", "replace").strip(_BLANKS)
        lines = chain([first], lines)
        if _is_one_game(start):
            for line in lines:
                yield from self._json_document(record_id, self.position, line.data)
        elif start.startswith("<"):
            yield from self._record(record_id, "", _joined(lines))
        # JSON other than lines of mjai; programs also log lines such as [INFO]
        elif _ARRAY.match(start) or (start.startswith("{") and not _EVENT_LINE.match(start)):
            yield from self._json_document(record_id, "", _joined(lines))
        else:
            yield from self._mjai_games(record_id, lines)

    def _json_document(self, record_id: str, position: str, data: bytes | None) -> Iterator[RawRecord]:
        """Yield the games of JSON that is not one mjai event per line."""
        for raw in self._record(record_id, position, data):
            try:
                for number, (game_id, text) in enumerate(_json_games(raw.text), start=1):
                    yield replace(raw, id=_fitting_id(game_id or _numbered(record_id, number)), text=text)
            except ValueError as error:
                self._refuse(position, str(error))

    def _mjai_games(self, record_id: str, lines: Iterable[record_stream.Line]) -> Iterator[RawRecord]:
        """Cut mjai lines before every start_game."""
        number = 0

        def game_of(line: record_stream.Line) -> int:
            nonlocal number
            number += line.data is not None and b'"start_game"' in line.data
            return number

        before = ""
        for game, its_lines in groupby(lines, game_of):
            first = next(its_lines)
            position = f"line {first.number}"
            if not game:
                before = position
                continue
            if game == 1 and before:
                self._refuse(f"before {position}", "these lines come before the first start_game")
            text = _joined(chain([first], its_lines))  # noqa: B031 (the first one is taken, the others follow)
            yield from self._record(_numbered(record_id, game), position, text)
        if not number:
            self._refuse(before, _NO_GAME)


def _numbered(record_id: str, number: int) -> str:
    return record_id if number == 1 else f"{record_id}-{number}"


def _joined(lines: Iterable[record_stream.Line]) -> bytes | None:
    """Return the text of lines, or None if it is too long."""
    held: list[bytes] = []
    size = 0
    for line in lines:
        size += record_stream.MAX_RECORD_BYTES + 1 if line.data is None else len(line.data)
        if size <= record_stream.MAX_RECORD_BYTES and line.data is not None:
            held.append(line.data)
        else:
            held.clear()
    return b"\n".join(held) if size <= record_stream.MAX_RECORD_BYTES else None


class _Seeds:
    """A table of seeds read alongside the games; both usually have the same order, but need not."""

    def __init__(self, path: Path | None, quarantine: Quarantine) -> None:
        self._lines = iter(()) if path is None else self._read(path, quarantine)
        self._ahead: dict[str, str] = {}

    def find(self, record_id: str) -> str | None:
        """Return the seed of a game, or None if the table has none within reach."""
        while record_id not in self._ahead and len(self._ahead) < _MAX_SEEDS_AHEAD:
            line = next(self._lines, None)
            if line is None:
                break
            self._ahead[line[0]] = line[1]
        return self._ahead.pop(record_id, None)

    def _read(self, path: Path, quarantine: Quarantine) -> Iterator[tuple[str, str]]:
        """Yield id and seed of each line."""
        try:
            with path.open("rb") as file:
                for line in record_stream.iter_lines(record_stream.unpacked(file)):
                    data = line.data or b""
                    columns = data.strip().split(b"\t") if len(data) <= _MAX_SEED_LINE_BYTES else []
                    if len(columns) == 2:
                        yield columns[0].decode("utf-8", "replace"), columns[1].decode("ascii", "replace")
                    else:
                        reason = "the line is not: id, tab, seed"
                        quarantine.add(str(path), f"line {line.number}", reason, kind=DAMAGED)
        except OSError as error:
            _Source(str(path), quarantine).give_up(error)
