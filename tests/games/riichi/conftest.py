"""Fixtures of the tests of records."""

from __future__ import annotations

import lzma
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest

from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.mjlog import parse_mjlog
from suphx.games.riichi.records.quarantine import RecordError


@pytest.fixture
def real_texts(records: Path) -> list[tuple[str, str]]:
    """Ids and mjlog of real games: every third of those with rare situations, and some of three archives."""
    texts = [(path.stem, path.read_text()) for path in sorted((records / "rare-situations").rglob("*.mjlog"))[::3]]
    for folder in ("suphx-tokujo-hanchan", "houou-mixed-201811", "careers-hanchan"):
        with lzma.open(records / folder / "games.tsv.xz", "rt") as lines:
            for line in islice(lines, 0, 300, 60):
                game_id, _, text = line.rstrip("\n").split("\t")
                texts.append((game_id, text))
    return texts


@pytest.fixture
def real_games(real_texts: list[tuple[str, str]]) -> list[GameLog]:
    """The real games that are played with four people."""
    games = []
    for game_id, text in real_texts:
        with suppress(RecordError):
            games.append(parse_mjlog(text, game_id, is_fragment_allowed=True))
    assert len(games) > 25
    return games
