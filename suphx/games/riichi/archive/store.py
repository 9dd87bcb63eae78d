"""Games on disk as walls and moves: about 350 bytes a deal, memory-mapped, so that any number of games streams.

A store is a folder: ``games.bin`` and ``kyokus.bin`` (records of GAME and KYOKU), ``moves.bin`` (uint16, see
game_log.py) and ``store.json``, which is written last: a folder without it is not finished.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suphx.atomic_file import write_atomically
from suphx.games.riichi.records.game_log import MAX_ID_BYTES, GameLog
from suphx.games.riichi.rules import RuleValues, apply_rules
from suphx.games.riichi.tile import NUM_TILES
from suphx.json_text import parse_json
from suphx.kernel.jit import jit
from suphx.kernel.record import I32, I64, U8, U16, Records, field, record_dtype

FORMAT = 2

MAX_KYOKUS = 16  # East 1 to North 4


class Game(RuleValues):
    """One game: its rules and which deals are its own."""

    id: bytes = field(f"S{MAX_ID_BYTES}")
    first_kyoku: int = field("i8")
    num_kyoku: int = field("i4")
    final_scores: I32 = field("i4", 4)


class Kyoku:
    """One deal: its start, its wall and where its moves stand."""

    game: int = field("i4")
    kyoku: int = field("i1")
    honba: int = field("i2")
    kyotaku: int = field("i2")
    scores: I32 = field("i4", 4)
    wall: U8 = field("u1", 136)
    first_move: int = field("i8")
    num_moves: int = field("i4")
    result: int = field("i1")


GAME = record_dtype(Game)
KYOKU = record_dtype(Kyoku)


def write_store(games: Iterable[GameLog], folder: Path) -> KyokuStore:
    """Write ``games`` as a new store into ``folder`` and open it; ValueError for an id that is longer than 48 bytes.

    The manifest is written last: until then, and if a game fails, the folder has no store.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "store.json").unlink(missing_ok=True)
    num_games = num_kyokus = num_moves = 0
    digest = hashlib.sha256()
    with ExitStack() as stack:
        files = {name: stack.enter_context((folder / name).open("wb")) for name in _FILES}
        for game in games:
            kyokus = _kyoku_records(game, num_games, num_moves)
            parts = {
                "moves.bin": b"".join(log.moves.tobytes() for log in game.kyokus),
                "kyokus.bin": kyokus.tobytes(),
                "games.bin": _game_record(game, num_kyokus).tobytes(),
            }
            for name, data in parts.items():
                files[name].write(data)
                digest.update(data)
            num_games += 1
            num_kyokus += len(kyokus)
            num_moves += int(kyokus["num_moves"].sum())
        for file in files.values():
            file.flush()
            os.fsync(file.fileno())
    counts = {"games": num_games, "kyokus": num_kyokus, "moves": num_moves}
    manifest = {"format": FORMAT, **counts, "sha256": digest.hexdigest()}
    write_atomically(folder / "store.json", [json.dumps(manifest, indent=1).encode()])
    return KyokuStore(folder)


def _game_record(game: GameLog, first_kyoku: int) -> np.ndarray[Any, Any]:
    name = game.id.encode()
    if len(name) > MAX_ID_BYTES:
        raise ValueError(f"the game id {game.id!r} is longer than {MAX_ID_BYTES} bytes: shorten it")
    record = np.zeros((), GAME)
    record["id"] = name
    apply_rules(record, game.rules)
    record["first_kyoku"] = first_kyoku
    record["num_kyoku"] = len(game.kyokus)
    record["final_scores"] = game.final_scores or (0, 0, 0, 0)
    return record


def _kyoku_records(game: GameLog, game_number: int, first_move: int) -> Records:
    kyokus = np.zeros(len(game.kyokus), KYOKU)
    for kyoku, log in zip(kyokus, game.kyokus, strict=True):
        kyoku["game"] = game_number
        for name in ("kyoku", "honba", "kyotaku", "scores", "wall"):
            kyoku[name] = getattr(log, name)
        kyoku["first_move"], kyoku["num_moves"] = first_move, log.moves.size
        kyoku["result"] = log.result["result"]
        first_move += log.moves.size
    return kyokus


class KyokuStore:
    """A finished store, mapped read-only: ``games`` (GAME), ``kyokus`` (KYOKU), ``moves`` (uint16).

    The content of the records is not checked here: whoever plays a deal asks ``is_playable`` first.
    """

    def __init__(self, folder: Path) -> None:
        """Map the store in ``folder``; ValueError when it is missing, unfinished or of another size than it says."""
        manifest = _read_manifest(folder)
        self.folder = folder
        self.digest: str = manifest["sha256"]
        self.games: Records = _map(folder / "games.bin", GAME, manifest["games"])
        self.kyokus: Records = _map(folder / "kyokus.bin", KYOKU, manifest["kyokus"])
        self.moves: U16 = _map(folder / "moves.bin", np.dtype(np.uint16), manifest["moves"])

    @property
    def num_games(self) -> int:
        """Number of games."""
        return len(self.games)

    @property
    def num_kyokus(self) -> int:
        """Number of deals."""
        return len(self.kyokus)

    @property
    def game_of_kyoku(self) -> I64:
        """int64 (num_kyokus,): the index of each deal's game; ValueError if one has none."""
        games = np.asarray(self.kyokus["game"], np.int64)
        if games.size and not 0 <= games.min() <= games.max() < self.num_games:
            raise ValueError(f"{self.folder} has deals of games that it does not have: {_DAMAGED}")
        return games

    @property
    def game_ids(self) -> list[str]:
        """The id of each game; ValueError if one is not UTF-8."""
        try:
            return [name.decode() for name in self.games["id"].tolist()]
        except UnicodeDecodeError as error:
            raise ValueError(f"{self.folder} has a game id that is not UTF-8: {_DAMAGED}") from error


@jit
def is_playable(kyoku: Any, num_games: int, num_moves: int) -> bool:
    """Tell whether a KYOKU record can be dealt: each tile once in its wall, and numbers that kernels may index with.

    ``num_games`` and ``num_moves`` are those of its store. Its moves may still contradict the rules.
    """
    if kyoku.game < 0 or kyoku.game >= num_games or kyoku.kyoku < 0 or kyoku.kyoku >= MAX_KYOKUS:
        return False
    if kyoku.honba < 0 or kyoku.kyotaku < 0 or kyoku.num_moves < 0:
        return False
    if kyoku.first_move < 0 or kyoku.first_move > num_moves - kyoku.num_moves:
        return False
    low = middle = high = 0
    for i in range(NUM_TILES):
        tile = int(kyoku.wall[i])
        if tile < 64:
            low |= 1 << tile
        elif tile < 128:
            middle |= 1 << (tile - 64)
        elif tile < NUM_TILES:
            high |= 1 << (tile - 128)
    return low == -1 and middle == -1 and high == 0xFF


_FILES = ("games.bin", "kyokus.bin", "moves.bin")
_DAMAGED = "the store is damaged, run the records stage again"


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / "store.json"
    if not path.is_file():
        raise ValueError(f"{folder} is not a finished game store (store.json is missing): run the records stage again")
    try:
        manifest = parse_json(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} is not JSON ({error}): {_DAMAGED}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        given = manifest.get("format") if isinstance(manifest, dict) else None
        raise ValueError(f"{path} has format {given!r:.40}, this version reads {FORMAT}: run the records stage again")
    counts = [manifest.get(name) for name in ("games", "kyokus", "moves")]
    if not all(type(count) is int for count in counts) or not isinstance(manifest.get("sha256"), str):
        raise ValueError(f"{path} has no counts or no sum: {_DAMAGED}")
    return manifest


def _map(path: Path, dtype: np.dtype[Any], count: int) -> NDArray[Any]:
    size = path.stat().st_size if path.is_file() else -1
    if size != count * dtype.itemsize:
        raise ValueError(f"{path} has {size} bytes instead of {count * dtype.itemsize}: {_DAMAGED}")
    if count == 0:
        return np.zeros(0, dtype)
    return np.asarray(np.memmap(path, dtype, "r"))
