"""An invalid recipe is refused by ``helm install`` and ``helm upgrade``, by the command that would run it."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from suphx_cli.cli import main
from tests.helm.everything import EVERYTHING, Render, find
from tests.repository import RECIPES

HOOKS = "pre-install,pre-upgrade"
RECIPE = {"run": "reinforcement", "nightly": "nightly"}


def values(part: str, recipe: str, **nightly: Any) -> dict[str, Any]:
    given = {**EVERYTHING[part], "recipe": recipe, **(nightly if part == "nightly" else {})}
    return {**EVERYTHING, "run": {}, "nightly": {}, part: given}


def checks(objects: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the Jobs that run before anything is changed, by name."""
    before = [one for one in objects if (one["metadata"].get("annotations") or {}).get("helm.sh/hook") == HOOKS]
    return {one["metadata"]["name"]: one for one in before if one["kind"] == "Job"}


def status(render: Render, given: dict[str, Any], part: str, tmp_path: Path) -> int:
    """Run the command of the Job that checks a recipe, with the recipe where its volume is; return its exit code."""
    objects = render(given)
    name = f"suphx-check-{part}"
    spec = checks(objects)[name]["spec"]["template"]["spec"]
    (volume,) = (one for one in spec["volumes"] if one["name"] == "recipe")
    recipe = find(objects, "ConfigMap", volume["configMap"]["name"])
    assert recipe["metadata"]["annotations"]["helm.sh/hook"] == HOOKS
    (tmp_path / "recipe.toml").write_text(recipe["data"]["recipe.toml"])
    container = spec["containers"][0]
    assert container["command"] == ["tini", "--"]
    program, *arguments = container["args"]
    assert program == "suphx"
    places = {"/recipes": str(tmp_path), "/runs": str(tmp_path / "runs")}
    moved = [next((w.replace(a, b, 1) for a, b in places.items() if w.startswith(a)), w) for w in arguments]
    return main(moved)


def text(part: str) -> str:
    return (RECIPES / f"{RECIPE[part]}.toml").read_text()


def variants(part: str) -> list[dict[str, Any]]:
    return [{}] if part == "run" else [{}, {"workers": 2}]


@pytest.mark.parametrize("part", RECIPE)
def test_a_shipped_recipe_is_taken_and_nothing_is_started(
    render: Render, part: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for more in variants(part):
        assert status(render, values(part, text(part), **more), part, tmp_path) == 0
    assert not (tmp_path / "runs").exists()
    assert RECIPE[part] in capsys.readouterr().out


BAD: dict[str, Callable[[str], str]] = {
    "not TOML": lambda part: "name = ",
    "an unknown key": lambda part: text(part) + "\n[nonsense]\nx = 1\n",
    "a recipe of the other command": lambda part: text("run" if part == "nightly" else "nightly"),
    "a value that is not allowed": lambda part: text(part).replace("name = ", "seed = -1\nname = ", 1),
}


@pytest.mark.parametrize("part", RECIPE)
@pytest.mark.parametrize("fault", BAD)
def test_an_invalid_recipe_fails_the_hook_at_once(
    render: Render, part: str, fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for more in variants(part):
        given = values(part, BAD[fault](part), **more)
        code = status(render, given, part, tmp_path)
        job = checks(render(given))[f"suphx-check-{part}"]["spec"]
        (fails,) = (rule["onExitCodes"] for rule in job["podFailurePolicy"]["rules"] if rule["action"] == "FailJob")
        assert code in fails["values"], "else Helm waits for retries"
        assert "recipe.toml" in capsys.readouterr().err


def test_an_unknown_agent_of_a_tournament_is_refused(render: Render, tmp_path: Path) -> None:
    given = values("nightly", 'name = "nightly"\n[pool]\nagents = ["ukiere"]\n')
    assert status(render, given, "nightly", tmp_path) == 1


def test_a_check_has_the_settings_of_the_command(render: Render) -> None:
    objects = render({**EVERYTHING, "run": {**EVERYTHING["run"], "arguments": ["--set", "seed=3"]}})
    words = shlex.split(find(objects, "RayJob", "first")["spec"]["entrypoint"])
    found = checks(objects)["suphx-check-run"]["spec"]["template"]["spec"]["containers"][0]["args"]
    assert found == [word for word in words if word not in ("--records", "/records")] + ["--dry-run"]
    night = find(objects, "CronJob", "suphx-nightly")["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    words = [word for word in night["containers"][0]["args"] if word != "--json"]
    found = checks(objects)["suphx-check-nightly"]["spec"]["template"]["spec"]["containers"][0]["args"]
    assert found == [word.replace("nightly.toml", "recipe.toml") for word in words] + ["--dry-run"]
