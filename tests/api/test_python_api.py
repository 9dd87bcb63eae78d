"""``import suphx``: cheap, complete, documented; every example in a docstring runs."""

from __future__ import annotations

import doctest
import importlib
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import suphx
from suphx.games.riichi.game import Riichi
from suphx.games.riichi.table import NUM_ACTIONS, PASS, TSUMOGIRI
from suphx.games.riichi.tables import RiichiScoring, ScriptedAgent
from suphx.kernel.record import Records
from tests.repository import REPOSITORY


class Answering:
    """Plays as ``tsumogiri`` and gives its actions as ``form`` makes them."""

    name = "answering"

    def __init__(self, form: Callable[[NDArray[np.int16]], Any]) -> None:
        self._form = form
        self._player = suphx.load_agent("tsumogiri")
        self.answers: list[Any] = []

    def act(self, tables: Records, indices: NDArray[np.int64]) -> Any:
        self.answers.append(self._form(self._player.act(tables, indices).astype(np.int16)))
        return self.answers[-1]


def read_only(actions: NDArray[np.int16]) -> NDArray[np.int16]:
    actions.flags.writeable = False
    return actions


RULES = suphx.Rules(num_winds=1)
PLAYED = suphx.simulate("ukeire", 1, seed=7, rules=RULES)
EXPECTED = suphx.review(PLAYED[0], "tsumogiri")


@pytest.mark.parametrize("form", [list, read_only, np.uint8, np.int64])
def test_integers_of_any_type_are_an_answer(form: Callable[[NDArray[np.int16]], Any]) -> None:
    agent = Answering(form)
    games, expected = (suphx.simulate(player, 2, seed=1, rules=RULES) for player in (agent, "tsumogiri"))
    assert [game.kyokus for game in games] == [game.kyokus for game in expected]
    reviewed = suphx.review(PLAYED[0], agent)
    assert reviewed.equals(EXPECTED)
    assert all((np.asarray(answer) >= 0).all() for answer in agent.answers), "they stay as they are"


@pytest.mark.parametrize(("name", "value"), [("red_fives", ""), ("tenpai_ends_game", False)])
def test_a_match_of_rules_without_words_is_refused_before_it_is_played(tmp_path: Any, name: str, value: Any) -> None:
    rules = suphx.Rules(**{name: value})
    message = f"the match is played with {name} = {value!r}, which its record cannot say: leave out its records"
    with pytest.raises(ValueError, match=message):
        suphx.play_match("tsumogiri", "random", num_hanchans=4000, seed=1, rules=rules, records=tmp_path)
    told = suphx.Rules(num_winds=1, open_tanyao=False, tenpai_ends_game=True)
    suphx.play_match("tsumogiri", "random", num_hanchans=8, seed=1, rules=told, records=tmp_path)
    assert len(suphx.load_games(tmp_path)) == 8


NAMES = [
    "Agent", "EncodedDecisions", "GameLog", "MatchReport", "NUM_ACTIONS", "PASS", "PolicyAgent", "RON", "Rules",
    "Simulator", "TSUMO", "TSUMOGIRI", "action_name", "deals_table", "encode", "games_table", "load_agent",
    "load_games", "moves_table", "play_match", "review", "save_games", "simulate", "tenhou",
]  # fmt: skip
"""What users rely on: a name that goes is a new major version."""
MODULES = sorted(path.stem for path in (REPOSITORY / "suphx" / "api").glob("*.py") if path.stem != "__init__")
HEAVY = {"torch", "ray", "numba", "numpy", "pyarrow", "pandas", "mlflow"}


def test_the_names_are_stable_and_all_of_them_exist() -> None:
    assert sorted(vars(suphx)["__all__"]) == NAMES


def test_the_package_knows_its_version() -> None:
    assert suphx.__version__ == version("suphx")
    with pytest.raises(AttributeError, match="no_such_name"):
        getattr(suphx, "no_such_" + "name")
    for name in NAMES:
        assert getattr(suphx, name).__doc__, name


def test_the_import_loads_nothing_heavy() -> None:
    program = (
        "import sys, suphx; assert 'simulate' in dir(suphx); print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert not HEAVY & set(done.stdout.split())


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_the_docstrings_run(module: str) -> None:
    result = doctest.testmod(importlib.import_module(f"suphx.api.{module}"))
    assert result.attempted
    assert not result.failed


def test_games_survive_a_file_and_tables_become_data_frames(tmp_path: Path) -> None:
    games = suphx.simulate(["ukeire", "tsumogiri", "random", "tsumogiri"], 2, seed=3)
    suphx.save_games(games, tmp_path / "records", "mjlog")
    loaded = suphx.load_games(tmp_path / "records")
    assert len(suphx.load_games(tmp_path / "records", 1)) == 1
    for table in (suphx.games_table, suphx.deals_table, suphx.moves_table):
        ours, theirs = (table(each).drop_columns(["game"]) for each in (games, loaded))
        assert ours.schema == theirs.schema
        assert ours == theirs or table is suphx.games_table  # names are fitted to a record's players
    frame = suphx.games_table(games).to_pandas()
    assert frame.groupby("player")["place"].mean()["ukeire"] < 2.5
    assert (tmp_path / "records").is_dir()


def test_a_damaged_record_is_left_out_with_a_warning(tmp_path: Path) -> None:
    suphx.save_games(suphx.simulate("tsumogiri"), tmp_path, "mjai")
    (tmp_path / "broken.mjai").write_text("{")
    with pytest.warns(UserWarning, match=r"skipped 1 of the records, such as .*broken\.mjai"):
        assert len(suphx.load_games(tmp_path)) == 1
    with pytest.raises(ValueError, match=r"has no game: .*broken\.mjai"):
        suphx.load_games(tmp_path / "broken.mjai")


def test_an_agent_of_your_own_is_seated_and_reviewed() -> None:
    agent = ScriptedAgent("tsumogiri")
    agent.name = "mine"
    (game,) = suphx.simulate([agent, "ukeire", "ukeire", "ukeire"], seed=2)
    assert game.names == ("mine", "ukeire", "ukeire", "ukeire")
    table = suphx.review(game, agent)
    own = [row for row in table.to_pylist() if row["seat"] == 0]
    assert all(row["agrees"] for row in own)
    assert {row["p_played"] for row in own} == {None}
    assert not all(row["agrees"] for row in table.to_pylist())


@dataclass
class Waiter:
    """It has no hash, and equals every other one."""

    name: str
    decisions: int = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Waiter)

    def act(self, tables: Records, indices: NDArray[np.int64]) -> NDArray[np.int16]:
        self.decisions += len(indices)
        preference = np.ones(NUM_ACTIONS)
        preference[[PASS, TSUMOGIRI]] = 3, 2
        actions: NDArray[np.int16] = (tables["legal"][indices] * preference).argmax(axis=1).astype(np.int16)
        return actions


def test_agents_without_a_hash_are_seated_and_equal_ones_stay_apart() -> None:
    first, second = Waiter("first"), Waiter("second")
    (game,) = suphx.simulate([first, second, first, "tsumogiri"], seed=2)
    assert game.names == ("first", "second", "first", "tsumogiri")
    assert first.decisions
    assert second.decisions
    (game,) = suphx.simulate(first, seed=2)
    assert game.names == ("first",) * 4
    assert suphx.review(game, second).num_rows


def test_a_game_against_the_rules_is_named_when_it_is_encoded() -> None:
    good, bad = suphx.simulate("tsumogiri", 2, seed=1)
    bad.kyokus[1].moves = bad.kyokus[1].moves[:4]
    with pytest.raises(ValueError, match=f"game {bad.id} contradicts the rules in deal 1: omit it"):
        suphx.encode([good, bad])


@dataclass(frozen=True)
class FrozenWaiter:
    name: str

    def act(self, tables: Records, indices: NDArray[np.int64]) -> NDArray[np.int16]:
        return Waiter(self.name).act(tables, indices)


def test_a_match_of_objects_leaves_them_as_they_are() -> None:
    waiter, frozen = Waiter("waiter"), FrozenWaiter("frozen")
    report = suphx.play_match(waiter, frozen, num_hanchans=8, seed=1)
    assert (report.candidate, report.opponent) == ("waiter", "frozen")
    assert (waiter.name, frozen.name) == ("waiter", "frozen")
    assert report.difference.mean == 0, "both play alike"
    again = suphx.play_match("1", "2", num_hanchans=8, seed=1, load=lambda address: frozen)
    assert again.placements == report.placements
    assert frozen.name == "frozen"
    assert suphx.play_match(frozen, frozen, num_hanchans=8, seed=1).placements == report.placements


def test_a_match_in_several_processes_takes_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Riichi, "scoring", RiichiScoring(deals_per_task=1))  # so that there is a task for each worker
    agent = suphx.load_agent("tsumogiri")
    report = suphx.play_match(agent, "random", num_hanchans=8, seed=1, workers=2)
    assert report.placements == suphx.play_match("tsumogiri", "random", num_hanchans=8, seed=1).placements


def test_paths_and_their_texts_are_the_same(tmp_path: Path) -> None:
    nets = REPOSITORY / "examples" / "agents" / "supervised"
    assert suphx.load_agent(nets).name == str(nets)
    first, second = (suphx.simulate([agent, "random", "random", "random"], seed=1)[0] for agent in (nets, str(nets)))
    assert first.final_scores == second.final_scores
    suphx.play_match("random", "tsumogiri", num_hanchans=8, seed=1, records=str(tmp_path / "games"))
    assert len(suphx.load_games(tmp_path / "games")) == 8
