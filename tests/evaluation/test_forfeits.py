from __future__ import annotations

import hashlib
import itertools
import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.evaluation.game_runner import Forfeit, Forfeits, GameRunner
from suphx.evaluation.kept_results import KeptResults
from suphx.evaluation.match import MatchReport, MatchSetup, play_match
from suphx.evaluation.measures import SequentialConfig
from suphx.evaluation.rating import rate_agents
from suphx.evaluation.sequential import SequentialReport, play_sequential_match
from suphx.evaluation.tournament import (
    PlayedLineup,
    Player,
    TournamentSetup,
    placements_of,
    play_tournament,
    replay_deals,
)
from suphx.file_tree import files_below
from suphx.games.game import Agent
from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.match_tables import (
    INDEX_FILE,
    first_seating,
    index_records,
    indexed_tables,
    number_tables,
    remove_after,
)
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.rules import tonpuu
from suphx.games.riichi.table import places_of_scores
from suphx.games.riichi.tables import ScriptedAgent
from suphx.games.scoring import SeatScoring
from suphx.kernel.record import I16, I64, Records
from suphx.selfplay.agents.agent import load_agent


def test_the_games_of_a_match_are_kept_in_compressed_tables_with_an_index(tmp_path: Path) -> None:
    play_match(MatchSetup("ukeire", "tsumogiri", seed=3), 8, runner=GameRunner(records=tmp_path))
    found = index_records(tmp_path)
    index = json.loads((tmp_path / INDEX_FILE).read_text())
    assert (found["games"], index["left_out"]) == (8, 0)
    assert sum(table["games"] for table in index["tables"]) == 8
    for table in index["tables"]:
        data = (tmp_path / table["name"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (table["bytes"], table["sha256"])
    logs = list(
        iter_records([tmp_path / table["name"] for table in index["tables"]], workers=1, quarantine=Quarantine())
    )
    assert len(logs) == 8
    (tmp_path / INDEX_FILE).write_text("[" * 9999)
    with pytest.raises(ValueError, match=f"{INDEX_FILE} is damaged"):
        indexed_tables(tmp_path)


def test_tables_beyond_the_budget_are_left_out_from_the_end_and_counted(tmp_path: Path) -> None:
    play_match(MatchSetup("tsumogiri", "tsumogiri", seed=3), 8, runner=GameRunner(records=tmp_path))
    (first, *_) = tmp_path.glob("*.tsv.xz")
    data = first.read_bytes()
    first.unlink()
    write_tables(tmp_path, "walls-1-16", "walls-17-32", "walls-113-128", data=data)
    index_records(tmp_path, max_bytes=2 * len(data))
    for _ in range(2):  # again after a kill
        index = json.loads((tmp_path / INDEX_FILE).read_text())
        assert [table["name"] for table in index["tables"]] == ["walls-1-16.tsv.xz", "walls-17-32.tsv.xz"]
        assert index["left_out"] == 1
        index_records(tmp_path, max_bytes=2 * len(data))


def write_tables(folder: Path, *names: str, data: bytes = lzma.compress(b"game\n")) -> None:
    for name in names:
        (folder / f"{name}.tsv.xz").write_bytes(data)


def test_the_tables_of_all_seatings_are_in_the_order_of_their_walls_and_one_seating_is_chosen(tmp_path: Path) -> None:
    names = [f"{seating}walls-{first}-{first + 15}" for seating in ("2v2-", "3v1-", "") for first in (1, 17, 113)]
    write_tables(tmp_path, *names)
    index_records(tmp_path)
    tables = indexed_tables(tmp_path)
    order = [path.name.partition("walls-")[2] for path in tables]
    assert order == sorted(order, key=lambda name: int(name.partition("-")[0]))
    assert [path.name for path in first_seating(tables)] == [f"walls-{n}-{n + 15}.tsv.xz" for n in (1, 17, 113)]
    others = [path for path in tables if path.name.startswith("2v2")]
    assert first_seating(others) == others


def test_numbered_tables_are_read_in_the_order_of_the_match(tmp_path: Path) -> None:
    played = [f"{seating}walls-{n}-{n + 15}" for seating in ("", "2v2-", "3v1-") for n in (1, 17, 97, 113)]
    (tmp_path / "fresh").mkdir()
    write_tables(tmp_path, *played, "fresh/walls-1-16")
    number_tables(tmp_path)
    read = [path.relative_to(tmp_path).as_posix() for path in files_below(tmp_path)]
    names = [f"{number:02}-{name}.tsv.xz" for number, name in enumerate(played, 1)]
    assert read == [*names, "fresh/1-walls-1-16.tsv.xz"]


def test_walls_behind_those_that_decided_are_removed(tmp_path: Path) -> None:
    write_tables(tmp_path, "3v1-walls-1-8", "3v1-walls-9-16", "3v1-walls-17-24", "walls-33-34")
    remove_after(tmp_path, 16)
    index_records(tmp_path)
    assert [path.name for path in indexed_tables(tmp_path)] == ["3v1-walls-1-8.tsv.xz", "3v1-walls-9-16.tsv.xz"]
    (tmp_path / "3v1-walls-1-8.tsv.xz").unlink()
    assert [path.name for path in indexed_tables(tmp_path)] == ["3v1-walls-9-16.tsv.xz"]
    assert indexed_tables(tmp_path / "nothing") == []


QUITTER = "quitter"


class Quitter(ScriptedAgent):
    """Plays as ukeire does, and says of every game that it could not play it to the end."""

    max_tables = 8

    def __init__(self) -> None:
        super().__init__("ukeire")
        self._seats: dict[int, set[int]] = {}

    def follow(self, tables: Any) -> None:
        self._seats.clear()

    def leave(self) -> None:
        self._seats.clear()

    def forfeits(self, index: int) -> dict[int, str]:
        return dict.fromkeys(self._seats.get(index, ()), "it has quit")

    def act(self, tables: Records, indices: I64) -> I16:
        for index, seat in zip(indices.tolist(), tables["actor"][indices].tolist(), strict=True):
            self._seats.setdefault(index, set()).add(seat)
        return super().act(tables, indices)


def load(address: str) -> Agent:
    return Quitter() if address == QUITTER else load_agent(address)


HERE = GameRunner(load=load)


def match(candidate: str, opponent: str, records: Path | None = None, kept: KeptResults | None = None) -> MatchReport:
    setup = MatchSetup(candidate, opponent, seed=1, rules=tonpuu())
    return play_match(setup, 16, runner=GameRunner(load=load, records=records, kept=kept))


def test_the_order_in_which_games_end_changes_nothing() -> None:
    lost = [(1, "late"), (0, "gone"), (1, "crashed"), (1, "late")]
    found = []
    for order in itertools.permutations(lost):
        forfeits = Forfeits(Forfeit(*each) for each in order)
        found.append((forfeits.to_json(("a", "b")), forfeits.sentences(("a", "b"))))
    assert all(each == found[0] for each in found)
    counts, (first, second) = found[0]
    assert counts == {"a": {"forfeits": 1, "reason": "gone"}, "b": {"forfeits": 3, "reason": "crashed"}}
    assert first.startswith("a could not play 1 game to the end: each counts as last place")
    assert second.endswith("one of the reasons: crashed")


@pytest.mark.parametrize(
    ("forfeited", "places"),
    [
        ((), [2, 1, 3, 4]),
        ((3,), [2, 1, 3, 4]),
        ((1,), [1, 4, 2, 3]),
        ((0, 1), [4, 3, 1, 2]),
        ((1, 2, 3), [1, 2, 3, 4]),
        ((0, 1, 2, 3), [2, 1, 3, 4]),
    ],
)
def test_a_seat_that_forfeits_is_behind_all_that_do_not(forfeited: tuple[int, ...], places: list[int]) -> None:
    assert SeatScoring().settle(np.array([[30_000, 45_000, 25_000, 0]]), [forfeited])[0].tolist() == [places]


def test_places_stay_a_permutation_and_equal_points_go_to_the_first_dealer() -> None:
    subsets = [seats for size in range(5) for seats in itertools.combinations(range(4), size)]
    for scores in ([25_000] * 4, [40_000, 10_000, 40_000, 10_000]):
        places, _ = SeatScoring().settle(np.array([scores] * len(subsets)), subsets)
        assert (np.sort(places, axis=1) == [1, 2, 3, 4]).all()
        assert places[0].tolist() == places_of_scores(np.array([scores]))[0].tolist()
        for seats, row in zip(subsets, places.tolist(), strict=True):
            assert sorted(row[seat] for seat in seats) == list(range(5 - len(seats), 5))


def final_scores(folder: Path) -> list[Any]:
    logs = iter_records(sorted(folder.glob("*.tsv.xz")), quarantine=Quarantine())
    return sorted((log.id, log.final_scores) for log in logs)


def test_a_match_counts_a_forfeit_as_fourth_place_and_its_records_show_the_game_as_played(tmp_path: Path) -> None:
    kept = KeptResults(tmp_path / "kept")
    honest = match("ukeire", "tsumogiri", tmp_path / "honest")
    lost = match(QUITTER, "tsumogiri", tmp_path / "lost", kept)
    assert honest.difference.mean < 0
    assert lost.statistics.placements == (0, 0, 0, 16)
    assert lost.opponent_statistics.placements == (16, 16, 16, 0), "the others move up"
    assert lost.difference.mean == 1.5, "fourth instead of 2.5th"
    assert lost.points_difference.mean == lost.points[3] - np.mean(lost.points)
    assert lost.statistics.win_rate == honest.statistics.win_rate
    assert final_scores(tmp_path / "lost") == final_scores(tmp_path / "honest")
    (path,) = kept.folder.iterdir()
    told = json.loads(path.read_bytes())["forfeits"]
    assert told == [[0, "it has quit", game, game % 4] for game in range(16)]
    assert repr(match(QUITTER, "tsumogiri", kept=kept)) == repr(lost)


def test_of_several_seats_that_forfeit_the_points_decide() -> None:
    report = match("tsumogiri", QUITTER)
    assert report.statistics.placements == (16, 0, 0, 0)
    assert report.opponent_statistics.placements == (0, 16, 16, 16)
    assert report.forfeits.counts == {1: 48}


def sequential(candidate: str, opponent: str = "tsumogiri") -> SequentialReport:
    config = SequentialConfig(difference=0.5, error=0.05)
    setup = MatchSetup(candidate, opponent, seed=3, rules=tonpuu())
    return play_sequential_match(setup, config, max_deals=40, fresh_deals=6, runner=HERE)


def test_the_sequential_test_promotes_nobody_who_forfeits() -> None:
    honest, lost = sequential("ukeire"), sequential(QUITTER)
    assert (honest.outcome.decision, lost.outcome.decision) == ("better", "not_better")
    assert lost.outcome.intervals["placement"].low > 0
    assert lost.forfeits.counts == {0: 4 * lost.outcome.deals}


def test_forfeits_on_the_new_walls_are_told_too() -> None:
    report = sequential("ukeire", QUITTER)
    assert report.fresh is not None
    assert report.forfeits.counts == {1: 3 * (4 * report.outcome.deals + 24)}


def test_a_tournament_rates_a_forfeit_as_fourth_place() -> None:
    addresses = {"a": "ukeire", "b": "tsumogiri", "c": QUITTER, "d": "random"}
    players = [Player(digest, address, digest) for digest, address in addresses.items()]
    walls: list[PlayedLineup] = []
    setup = TournamentSetup(players=players, anchor="a", seed=1, rules=tonpuu())
    games = play_tournament(setup, 4, runner=HERE, note_lineup=walls.append)
    assert set(placements_of(games, "c").tolist()) == {4}
    assert all(sorted(game.places) == [1, 2, 3, 4] for game in games)
    assert walls[0].rows["c"][:4].tolist() == [0, 0, 0, 4]
    assert [wall.forfeits for wall in walls] == [[("c", "it has quit")] * 4] * 4
    ratings = {digest: rating.rating for digest, rating in rate_agents(games, anchor="a").items()}
    assert min(ratings, key=ratings.__getitem__) == "c"


def test_a_replay_has_the_places_that_counted_and_records_of_the_game_as_played(tmp_path: Path) -> None:
    players = [Player(digest, address, digest) for digest, address in zip("abcd", ("ukeire", QUITTER) * 2, strict=True)]
    games = play_tournament(TournamentSetup(players=players, anchor="a", seed=1), 2, runner=HERE)
    wall = [game for game in games if game.wall == games[0].wall]
    places = replay_deals(players, {1: wall}, runner=GameRunner(load=load, records=tmp_path))
    assert places == {1: [list(game.places) for game in wall]}
    logs = iter_records([tmp_path / "wall-1.tsv.xz"], quarantine=Quarantine())
    shown = [places_of_scores(np.array([log.final_scores]))[0].tolist() for log in logs]
    assert shown != places[1]
