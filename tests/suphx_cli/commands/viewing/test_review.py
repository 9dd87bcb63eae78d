"""``suphx review`` of records with a baseline and with nets."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from suphx.evaluation.review import KINDS
from suphx.games.riichi.records.mjlog.mjlog_writer import write_mjlog
from suphx_cli import cli
from tests.games.riichi.builders.random_game import random_game
from tests.suphx_platform.parts.small_policy_set import save_random


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """Two games of two deals each."""
    folder = tmp_path / "records"
    folder.mkdir()
    for seed in range(2):
        whole = random_game(seed)
        game = dataclasses.replace(whole, id=f"game{seed}", kyokus=whole.kyokus[:2])
        (folder / f"game{seed}.mjlog").write_text(write_mjlog(game), encoding="utf-8")
    return folder


def review(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert cli.main(["review", *arguments, "--json"]) == 0
    values: dict[str, object] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return values


def test_a_review_has_the_probabilities_of_nets_and_links_to_the_games(
    records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nets, out = save_random(tmp_path / "nets"), tmp_path / "out"
    result = review(capsys, str(records), "--agent", str(nets), "--out", str(out), "--runs", str(tmp_path))
    values = json.loads((out / "review.json").read_text())
    decisions = values["decisions"]
    assert (result["games"], result["decisions"]) == (2, len(decisions))
    agreement = sum(one["played"] == one["agent"] for one in decisions) / len(decisions)
    assert result["agreement"] == pytest.approx(agreement)
    for groups in (["turns"], ["tenpai"], ["other player has", "another player has"], list(KINDS.values())):
        rows = [row for row in values["groups"] if any(group in row["group"] for group in groups)]
        assert sum(row["decisions"] for row in rows) == len(decisions)
    moves = {kind: {name for one in decisions if one["kind"] == kind for name, _ in one["moves"]} for kind in KINDS}
    assert all(name.startswith("discard") for name in moves["discard"])
    assert {name.split()[0] for name in moves["claim"]} <= {"pass", "chi", "pon", "minkan"}
    assert all("pass" in dict(one["moves"]) for one in decisions if one["kind"] == "claim")
    discards = [one for one in decisions if one["played"].startswith("discard")]
    assert all(0 <= one["played_probability"] <= 1 for one in discards)
    assert all(sum(p for name, p in one["moves"] if name.startswith("discard")) == pytest.approx(1, abs=0.01)
               for one in discards)  # fmt: skip
    page = (out / "review.html").read_text()
    different = [one for one in decisions if one["played"] != one["agent"]]
    assert page.count("Show the table") == min(50, len(different)) > 0
    assert 'href="1-game0.html#1.' in page
    assert sorted(path.name for path in out.glob("*-game*.html")) == ["1-game0.html", "2-game1.html"]


def test_one_player_of_one_game_is_reviewed_with_a_baseline(
    records: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game, out = records / "game0.mjlog", tmp_path / "out"
    common = [str(game), "--agent", "ukeire", "--out", str(out), "--runs", str(tmp_path)]
    everybody = review(capsys, *common)
    one = review(capsys, *common, "--player", "クレオ")
    again = review(capsys, *common, "--player", "3")
    assert again == one
    assert 0 < int(str(one["decisions"])) < int(str(everybody["decisions"]))
    values = json.loads((out / "review.json").read_text())
    assert {each["player"] for each in values["decisions"]} == {"クレオ"}
    assert {each["agent_probability"] for each in values["decisions"]} == {None}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "--agent", "ukeire"], "nowhere does not exist"),
        (["records", "--agent", "mjai:bot"], "must follow whole games"),
        (["records", "--agent", "ukeire", "--player", "Eve"], "records has no game of 'Eve' among its first 20"),
    ],
)
@pytest.mark.usefixtures("records")
def test_what_cannot_be_reviewed_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["review", *arguments]) == 1
    assert message in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "review").exists()
