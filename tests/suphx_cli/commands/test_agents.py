from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from suphx.games.registry import GAMES, agent_names
from suphx_cli import cli
from suphx_pipelines.stages.evaluation import check_opponent
from suphx_platform.agents.agent_forms import AGENT_FORMS, check_agent
from tests.repository import RECIPES, REPOSITORY
from tests.selfplay.small_policy_set import save_random
from tests.suphx_pipelines.recipe.small_recipe import load_recipe
from tests.suphx_pipelines.tournament.small_side_tournament import save_nets


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder of runs with nets of two runs, those of laptop-1 newer."""
    for run, saved in (("laptop-1", 2000), ("laptop-2", 1000)):
        for file in save_random(tmp_path / run / "supervised").iterdir():
            os.utime(file, (saved, saved))
    return tmp_path


def test_scripts_get_the_forms_of_names_and_the_nets_of_all_games(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = save_nets(runs / "doudizhu-1" / "learning", seed=1)
    assert cli.main(["agents", "--runs", str(runs), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = [(each["name"], each["about"]) for each in found["agents"]]
    assert set(AGENT_FORMS) <= set(rows)
    assert [name for name, _ in rows][: len(agent_names("riichi"))] == list(agent_names("riichi")[::-1])
    assert {name for name, _ in rows} >= {name for game in GAMES for name in agent_names(game)}
    assert found["nets"] == [str(own), f"{runs}/laptop-1/supervised", f"{runs}/laptop-2/supervised"]


@pytest.mark.parametrize("name", [*agent_names("riichi"), *(name for name, _ in AGENT_FORMS)])
def test_every_form_is_accepted_and_explained_by_the_page(name: str, tmp_path: Path) -> None:
    examples = {"FOLDER": "NETS", "NETS": str(save_random(tmp_path)), "-K": "-256", "PORT": "7001"}
    address = name
    for word, example in examples.items():
        address = address.replace(word, example)
    check_agent(address, "riichi")
    page = (REPOSITORY / "docs" / "agents.md").read_text(encoding="utf-8")
    form = name.removeprefix("NETS:").replace("s3://BUCKET/PREFIX/RUN/STAGE", "s3://").replace("FOLDER", "folder")
    assert form in page


@pytest.mark.parametrize("opponent", ["models:/suphx@champion", "s3://b/x", "adapt:a/nets", "mjai:./bot", "a/nobody"])
def test_a_recipe_names_its_key_when_an_opponent_cannot_be_taken(opponent: str) -> None:
    recipe = load_recipe(RECIPES / "laptop.toml", [("evaluation.opponent", opponent)])
    with pytest.raises(ValueError, match=r"^evaluation\.opponent"):
        check_opponent(recipe)
