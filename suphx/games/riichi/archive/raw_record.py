"""Finds the texts of game records in files and folders; files without readable text are set aside (see archive.py).

In JSON that is not mjai with one event per line it finds objects of tenhou.net/6 on one line or several, one after
another or in an array, addresses of Tenhou's viewer that contain one, and arrays of mjai events.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, Protocol
from urllib.parse import unquote

from suphx.file_tree import files_below
from suphx.games.riichi.archive.record_stream import (
    DAMAGED_STREAM,
    MAX_RECORD_BYTES,
    UTF_16_MARKS,
    ByteSource,
    Decompressed,
    Line,
    OtherFormat,
    ReadShare,
    Utf8Source,
    iter_lines,
    iter_members,
    iter_zip_members,
    read_bounded,
)
from suphx.games.riichi.records.game_log import MAX_ID_BYTES
from suphx.games.riichi.records.quarantine import NOT_A_RECORD, OTHER_FORMAT, TOO_LARGE, UNREADABLE, Quarantine
from suphx.json_text import parse_json

_ADDRESS = re.compile(r"https?://tenhou\.net/[0-9]+/[^#\s]*#json=(.*)", re.S)
_NON_SPACE = re.compile(r"\S")
_EVENT_LINE = re.compile(r'\{[^\n]*"type"\s*:')
_ARRAY = re.compile(r"\[\s*(?:\{|\]|$)")
_NO_JSON_GAME = "the JSON has no game: neither an mjai start_game nor the log of tenhou.net/6"
_MAX_NAME = 1000


class GameText(NamedTuple):
    """The text of one game, which ``parse_record`` reads."""

    id: str
    """As tenhou.net/6 has it, or ""."""
    text: str


def is_game_text(start: str) -> bool:
    """Tell whether a text can be a game by how it begins: mjlog, JSON, or an address of Tenhou's viewer."""
    return re.match(r"<mjloggm|\{|\[\s*\{|https?://tenhou\.net/", start.lstrip("\ufeff \t\r\n")) is not None


def is_mjai_text(text: str) -> bool:
    """Tell whether a text begins with an mjai event that is a whole line."""
    start = text.lstrip("\ufeff \t\r\n")
    return _EVENT_LINE.match(start) is not None and not is_one_game(start.partition("\n")[0])


def is_one_game(line: str) -> bool:
    """Tell whether a line is a whole game of tenhou.net/6, or an address with one."""
    if _ADDRESS.match(line):
        return True
    try:
        return line.startswith("{") and "log" in parse_json(line)
    except ValueError:
        return False


def is_json_document(line: str) -> bool:
    """Tell whether the first line of a file begins JSON other than lines of mjai; programs log lines such as [INFO]."""
    return _ARRAY.match(line) is not None or (line.startswith("{") and not _EVENT_LINE.match(line))


def iter_games(text: str) -> Iterator[GameText]:
    """Yield the games of a text; ValueError if it is not JSON, or has none."""
    events: list[Any] = []
    is_empty = True
    for value in _items(text):
        if isinstance(value, dict) and "log" in value:
            is_empty = False
            reference = value.get("ref")
            yield GameText(reference[:_MAX_NAME] if isinstance(reference, str) else "", _dumped(value))
            continue
        if events and isinstance(value, dict) and value.get("type") == "start_game":
            is_empty = False
            yield GameText("", "\n".join(map(_dumped, events)))
            events = []
        events.append(value)
    if any(isinstance(event, dict) and event.get("type") == "start_game" for event in events):
        yield GameText("", "\n".join(map(_dumped, events)))
    elif is_empty:
        raise ValueError(_NO_JSON_GAME)


def _items(text: str) -> Iterator[Any]:
    """Yield the values of a text; of an array its items."""
    text = text.strip("\ufeff \t\r\n")
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


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


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

_TOO_LONG = f"longer than {MAX_RECORD_BYTES:,} bytes"
_NO_GAME = "it has neither a line with an mjai start_game nor the log of tenhou.net/6"
_NO_START = "these lines come before the first start_game"
_WEB_PAGE = "it is a web page, not a record"
_ARCHIVE = "an archive in an archive: unpack it"


_HTML = re.compile(r"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|meta|title|script)\b", re.I | re.S)


@dataclass(frozen=True, slots=True)
class RawRecord:
    """The text of one record and where it was found."""

    source: str
    """The file; ``archive.tar/member`` for a member of an archive."""
    position: str
    """Where in the file: "line 7", or "" for the whole file."""
    id: str
    """Of at most MAX_ID_BYTES: a longer one ends in a digest."""
    text: str
    seed: str | None = None
    """The SHUFFLE seed, if a table beside the records has it."""


def iter_texts(paths: Sequence[Path], *, quarantine: Quarantine, read: ReadShare | None = None) -> Iterator[RawRecord]:
    """Yield the text of every record of files and folders (recursively, by name), in order; ``read`` counts the bytes.

    Files and folders in a folder whose names begin with a dot do not count: desktops and editors leave them.
    A file that is given itself is known by its content, whatever its name.
    ValueError, at the call, for a path that is missing or a folder without records.
    Damaged files and lines go to ``quarantine``; memory stays bounded whatever the files hold.
    """
    files = record_files(paths)
    share = read or ReadShare()
    sizes = [path.stat().st_size for path in files]
    share.expect(sum(sizes))
    return _iter_files(files, sizes, quarantine, share)


def _iter_files(files: list[Path], sizes: list[int], quarantine: Quarantine, read: ReadShare) -> Iterator[RawRecord]:
    for path, size in zip(files, sizes, strict=True):
        yield from _iter_file(path, quarantine, read)
        read.finish_file(size)


def _iter_file(path: Path, quarantine: Quarantine, read: ReadShare) -> Iterator[RawRecord]:
    source = _Source(str(path), quarantine)
    try:
        if _kind(path.name) == _ZIP:
            yield from source.members(iter_zip_members(path))
            return
        with path.open("rb") as file:
            yield from source.texts(path.name, Decompressed(read.counted(file)), _seed_table(path))
    except DAMAGED_STREAM as error:
        _set_aside(quarantine, str(path), source.position, error)


def record_files(paths: Sequence[Path]) -> list[Path]:
    """Return the files that ``iter_texts`` reads; errors as there."""
    return [file for path in paths for file in _record_files(path)]


def _record_files(path: Path) -> list[Path]:
    known, packed = ", ".join(_KIND_OF_SUFFIX), ", ".join(_PACKED)
    if path.is_dir():
        files = [file for file in files_below(path) if _kind(file.name) or _is_text_of_game(file)]
        if not files:
            raise ValueError(f"folder {path} has no game records: it needs files named {known}, plain or {packed}")
        return files
    if not path.exists():
        raise ValueError(f"{path} does not exist: give a record file or a folder of records")
    if not path.is_file():
        raise ValueError(f"{path} is neither a file nor a folder: give a record file or a folder of records")
    return [path]


def _is_text_of_game(path: Path) -> bool:
    """Tell whether a file named .txt begins as a game does; license texts and notes of people do not."""
    if _unpacked_name(path.name).suffix.lower() != ".txt":
        return False
    with path.open("rb") as file, suppress(*DAMAGED_STREAM):
        return is_game_text(Utf8Source(Decompressed(file)).read(_MAX_HEAD).decode("utf-8", "replace"))
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


def _seed_table(path: Path) -> Path | None:
    """Return the seeds that belong to a table of games, if they are there."""
    if _kind(path.name) != _TABLE or _unpacked_name(path.name).stem != _GAMES:
        return None
    places = [path.with_name(f"{_SEEDS}.tsv{packed}") for packed in ("", *_PACKED)]
    return next((place for place in places if place.is_file()), None)


def _set_aside(quarantine: Quarantine, file: str, position: str, error: Exception) -> None:
    """Set aside the rest of a file that cannot be read, or the whole of one that is no record file."""
    if isinstance(error, OtherFormat):
        quarantine.add(file, position, str(error), kind=OTHER_FORMAT)
    else:
        reason = f"cannot be read further: {error or type(error).__name__}"
        quarantine.add(file, position, reason, kind=UNREADABLE)


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


class _Member(ByteSource, Protocol):
    """One file of an archive."""

    name: str


class _Source:
    """One file, or one member of an archive, on its way to texts; ``position`` is how far it was read."""

    def __init__(self, name: str, quarantine: Quarantine) -> None:
        self.position = ""
        self._name = name
        self._quarantine = quarantine

    def texts(self, file_name: str, file: ByteSource, seeds: Path | None = None) -> Iterator[RawRecord]:
        """Yield the records of a decompressed file; its name gives its form, or else its content."""
        kind = _kind(file_name)
        record_id = _tenhou_id(file_name) or _unpacked_name(file_name).stem
        if kind == _MJLOG:
            yield from self._record(record_id, "", read_bounded(file))
        elif kind in (_JSON, None):
            yield from self._json_games(record_id, Utf8Source(file))
        elif kind == _TABLE:
            yield from self._table(Utf8Source(file), seeds)
        elif kind == _TAR:
            yield from self.members(iter_members(file))

    def _record(
        self, record_id: str, position: str, data: bytes | None, seed: str | None = None
    ) -> Iterator[RawRecord]:
        if data is None:
            self._quarantine.add(self._name, position, _TOO_LONG, kind=TOO_LARGE)
            return
        encoding = "utf-16" if data.startswith(UTF_16_MARKS) else "utf-8"
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError as error:
            text = data.decode(encoding, "replace")  # names and chat of a game may be in another encoding
            if not is_game_text(text):
                reason = f"not {encoding.upper()}: {error.reason} at byte {error.start}"
                self._quarantine.add(self._name, position, reason)
                return
        if _HTML.match(text[:_MAX_HEAD]):
            self._quarantine.add(self._name, position, _WEB_PAGE, kind=NOT_A_RECORD)
            return
        yield RawRecord(self._name, position, _fitting_id(record_id), text, seed)

    def _table(self, file: ByteSource, seeds_path: Path | None) -> Iterator[RawRecord]:
        with ExitStack() as stack:
            seeds = None
            if seeds_path is not None:
                seed_file = stack.enter_context(seeds_path.open("rb"))
                seeds = _Seeds(seeds_path, Utf8Source(Decompressed(seed_file)), self._quarantine)
            for line in iter_lines(file):
                self.position = f"line {line.number}"
                if line.data is None:
                    self._quarantine.add(self._name, self.position, _TOO_LONG, kind=TOO_LARGE)
                    continue
                first, tab, rest = line.data.rstrip(b"\r").partition(b"\t")
                if not tab and not first.strip():
                    continue
                if not tab:
                    reason = "the line is not: id, tab, anything, tab, record"
                    self._quarantine.add(self._name, self.position, reason, kind=NOT_A_RECORD)
                    continue
                record_id = first.decode("utf-8", "replace")
                seed = seeds.find(record_id) if seeds is not None else None
                yield from self._record(record_id, self.position, rest.rpartition(b"\t")[2], seed)

    def _json_games(self, record_id: str, file: ByteSource) -> Iterator[RawRecord]:
        """Yield the games of a file of mjai lines or other JSON, or of an mjlog record in a file with such a name."""
        lines = iter_lines(file)
        first = next((line for line in lines if line.data is None or line.data.strip()), Line(1, b""))
        start = (first.data or b"").decode("utf-8", "replace").strip("\ufeff \t\r\n")
        rest = chain([first], lines)
        if is_one_game(start):
            for line in rest:
                self.position = f"line {line.number}"
                yield from self._json_document(record_id, self.position, line.data)
        elif start.startswith("<") or is_json_document(start):
            whole = _Lines(first.number)
            for line in rest:
                whole.add(line)
            if start.startswith("<"):
                yield from self._record(record_id, "", whole.data())
            else:
                yield from self._json_document(record_id, "", whole.data())
        else:
            yield from self._mjai_games(record_id, rest)

    def _json_document(self, record_id: str, position: str, data: bytes | None) -> Iterator[RawRecord]:
        """Yield the games of JSON that is not one mjai event per line."""
        for raw in self._record(record_id, position, data):
            try:
                for number, game in enumerate(iter_games(raw.text), start=1):
                    numbered = record_id if number == 1 else f"{record_id}-{number}"
                    yield replace(raw, id=_fitting_id(game.id or numbered), text=game.text)
            except ValueError as error:
                self._quarantine.add(self._name, position, str(error), kind=NOT_A_RECORD)

    def _mjai_games(self, record_id: str, lines: Iterator[Line]) -> Iterator[RawRecord]:
        """Cut mjai lines before every start_game."""
        game = _Lines(0)
        num_games = 0
        start_position = None
        for line in lines:
            self.position = f"line {line.number}"
            if line.data is not None and not line.data.strip():
                continue
            if line.data is not None and b'"start_game"' in line.data:
                if start_position is not None and not num_games:
                    self._quarantine.add(self._name, f"before {self.position}", _NO_START, kind=NOT_A_RECORD)
                if num_games:
                    yield from self._mjai_game(record_id, num_games, game)
                num_games += 1
                game = _Lines(line.number)
            elif not num_games:
                start_position = start_position or self.position
                continue
            game.add(line)
        if num_games:
            yield from self._mjai_game(record_id, num_games, game)
        else:
            self._quarantine.add(self._name, start_position or "", _NO_GAME, kind=NOT_A_RECORD)

    def _mjai_game(self, record_id: str, number: int, game: _Lines) -> Iterator[RawRecord]:
        numbered = record_id if number == 1 else f"{record_id}-{number}"
        return self._record(numbered, f"line {game.first_line}", game.data())

    def members(self, members: Iterable[_Member]) -> Iterator[RawRecord]:
        """Yield the records of the members of an archive."""
        for member in members:
            self.position = member.name
            kind = _kind(member.name)
            if kind is None:
                continue
            name = f"{self._name}/{member.name}"
            if kind in (_TAR, _ZIP):
                self._quarantine.add(name, "", _ARCHIVE, kind=UNREADABLE)
                continue
            source = _Source(name, self._quarantine)
            try:
                yield from source.texts(member.name, Decompressed(member))
            except DAMAGED_STREAM as error:
                _set_aside(self._quarantine, name, source.position, error)


class _Lines:
    """Lines of one game or document, bounded."""

    def __init__(self, first_line: int) -> None:
        self.first_line = first_line
        self._lines: list[bytes] = []
        self._size = 0

    def add(self, line: Line) -> None:
        """Add a line; over the limit only the size is kept."""
        self._size += MAX_RECORD_BYTES if line.data is None else len(line.data)
        if line.data is not None and self._size <= MAX_RECORD_BYTES:
            self._lines.append(line.data)
        else:
            self._size = MAX_RECORD_BYTES + 1
            self._lines = []

    def data(self) -> bytes | None:
        """Return the text, or None if it was too long."""
        return b"\n".join(self._lines) if self._size <= MAX_RECORD_BYTES else None


class _Seeds:
    """A table of seeds read alongside the games; both usually have the same order, but need not."""

    def __init__(self, path: Path, file: ByteSource, quarantine: Quarantine) -> None:
        self._path = path
        self._quarantine = quarantine
        self._lines = iter_lines(file)
        self._ahead: dict[str, str] = {}
        self._is_exhausted = False

    def find(self, record_id: str) -> str | None:
        """Return the seed of a game, or None if the table has none within reach."""
        if record_id in self._ahead:
            return self._ahead.pop(record_id)
        while not self._is_exhausted and len(self._ahead) < _MAX_SEEDS_AHEAD:
            found = self._next()
            if found is not None and found[0] == record_id:
                return found[1]
            if found is not None:
                self._ahead[found[0]] = found[1]
        return None

    def _next(self) -> tuple[str, str] | None:
        try:
            line = next(self._lines, None)
        except DAMAGED_STREAM as error:
            _set_aside(self._quarantine, str(self._path), "", error)
            line = None
        if line is None:
            self._is_exhausted = True
            return None
        data = line.data
        columns = [] if data is None or len(data) > _MAX_SEED_LINE_BYTES else data.strip().split(b"\t")
        if len(columns) == 2:
            return columns[0].decode("utf-8", "replace"), columns[1].decode("ascii", "replace")
        self._quarantine.add(str(self._path), f"line {line.number}", "the line is not: id, tab, seed")
        return None
