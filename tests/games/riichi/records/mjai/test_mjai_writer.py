from __future__ import annotations

import dataclasses
import json
import lzma
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from suphx.games.riichi.records.log.gamelog import ACTION_BITS, GameLog
from suphx.games.riichi.records.log.record_error import RecordError
from suphx.games.riichi.records.mjai.mjai import parse_mjai
from suphx.games.riichi.records.mjai.mjai_writer import write_mjai
from suphx.games.riichi.records.mjlog.mjlog import parse_mjlog
from suphx.games.riichi.table.action import LEAVE
from suphx.games.riichi.table.rules import Rules, tenhou_no_red
from tests.games.riichi.builders.games import assert_same_game, drawn_game, random_game, shuffled_wall

KNOWN = ("result", "num_wins", "win_seat", "win_loser", "win_face", "win_deltas", "tenpai", "deltas")


def assert_mjai_keeps(game: GameLog) -> None:
    read = parse_mjai(write_mjai(game), game.id, is_fragment_allowed=True)
    assert (read.names, read.final_scores) == (game.names, game.final_scores)
    for ours, theirs in zip(game.kyokus, read.kyokus, strict=True):
        known = ours.moves[(ours.moves & (1 << ACTION_BITS) - 1) < LEAVE]
        assert np.array_equal(theirs.moves, known)
        assert (theirs.kyoku, theirs.honba, theirs.kyotaku, theirs.scores) == (
            (ours.kyoku, ours.honba, ours.kyotaku, ours.scores)
        )
        for name in KNOWN:
            assert np.array_equal(theirs.result[name], ours.result[name]), name
    assert_same_game(parse_mjai(write_mjai(read), game.id, is_fragment_allowed=True), read)


@pytest.mark.parametrize("seed", range(12))
def test_a_game_of_our_engine_survives_writing_and_reading(seed: int) -> None:
    assert_mjai_keeps(random_game(seed))


def test_a_game_by_rules_that_mjai_cannot_say_is_refused() -> None:
    game = dataclasses.replace(drawn_game(shuffled_wall(1)), rules=tenhou_no_red())
    with pytest.raises(ValueError, match="was played with red_fives = '', which its record cannot say"):
        write_mjai(game)


def test_each_line_is_one_event_of_the_protocol() -> None:
    events = [json.loads(line) for line in write_mjai(random_game(2)).splitlines()]
    assert [event["type"] for event in events[:4]] == ["start_game", "start_kyoku", "tsumo", "dahai"]
    assert [event["type"] for event in events[-2:]] == ["end_kyoku", "end_game"]
    start = events[1]
    assert (start["bakaze"], start["kyoku"], start["oya"], start["scores"]) == ("E", 1, 0, [25_000] * 4)
    assert [len(hand) for hand in start["tehais"]] == [13] * 4


def test_the_number_of_winds_survives() -> None:
    game = dataclasses.replace(drawn_game(shuffled_wall(1)), rules=Rules(num_winds=1))
    assert parse_mjai(write_mjai(game), game.id).rules.num_winds == 1


def test_a_fragment_has_no_end_of_the_game() -> None:
    game = dataclasses.replace(drawn_game(shuffled_wall(1)), final_scores=None)
    assert "end_game" not in write_mjai(game)


@pytest.mark.records
def test_real_games_survive_writing_and_reading(records: Path) -> None:
    texts = [(path.stem, path.read_text()) for path in sorted((records / "rare-situations").rglob("*.mjlog"))]
    for folder in ("suphx-tokujo-hanchan", "careers-hanchan"):
        with lzma.open(records / folder / "games.tsv.xz", "rt") as lines:
            for line in islice(lines, 0, 300, 10):
                game_id, _, text = line.rstrip("\n").split("\t")
                texts.append((game_id, text))
    num_games = 0
    for game_id, text in texts:
        try:
            game = parse_mjlog(text, game_id, is_fragment_allowed=True)
        except RecordError:
            continue
        assert_mjai_keeps(game)
        num_games += 1
    assert num_games > 100
