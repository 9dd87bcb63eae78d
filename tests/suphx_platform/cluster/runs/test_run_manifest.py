"""The command of a run survives the shells that read it: KubeRay's submitter has one, Ray's head another."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from suphx_platform.cluster.cluster_error import ClusterError
from suphx_platform.cluster.runs.run_manifest import RunNeeds, run_id_of, run_objects

HOSTILE = [
    "1; touch owned",
    "$HOME",
    "`touch owned`",
    "a && touch owned",
    '"a $(touch owned)"',
    "'a b'",
    "a' || touch owned '",
    "a\ntouch owned",
    "a\\",
    "--set seed=7",
]
SAFE_WORD = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")


def entrypoint(template: dict[str, Any], *overrides: tuple[str, str]) -> str:
    made = run_objects(template, preset="small", run_id="demo-1", recipe="seed = 1\n", overrides=list(overrides))
    return str(made.job["spec"]["entrypoint"])


def words_of_the_driver(command: str, folder: Path) -> list[str]:
    """Return what the driver gets: KubeRay's submitter runs ``ray job submit -- COMMAND`` in a shell; the head's reads
    what Ray's client makes of those words."""
    show = [sys.executable, "-c", "import json, sys; print(json.dumps(sys.argv[1:]))"]
    submitter = ["bash", "-ce", f"{shlex.join(show)} {command}"]
    words = json.loads(subprocess.run(submitter, cwd=folder, capture_output=True, text=True, check=True).stdout)
    head = ["sh", "-c", f"{shlex.join(show)} {subprocess.list2cmdline(words)}"]  # as ray.dashboard.modules.job.cli does
    found: list[str] = json.loads(subprocess.run(head, cwd=folder, capture_output=True, text=True, check=True).stdout)
    return found


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_hostile_text_of_a_recipe_reaches_a_shell(template: dict[str, Any], hostile: str, tmp_path: Path) -> None:
    settings = [("seed", hostile), ("name", hostile), ("storage.endpoint_url", hostile), (hostile, "1")]
    run_id = run_id_of(hostile, {"name": hostile})
    made = run_objects(
        template, preset="small", run_id=run_id, recipe=f"name = {json.dumps(hostile)}\n", overrides=settings
    )
    command = str(made.job["spec"]["entrypoint"])
    assert words_of_the_driver(command, tmp_path) == command.split(" ")
    assert all(SAFE_WORD.fullmatch(word) for word in command.split(" "))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ClusterError):  # the address of the storage, which the chart sets too
        run_objects(template, preset="small", run_id=run_id, recipe="", overrides=[("storage.address", hostile)])
    with pytest.raises(ClusterError, match="its name must begin with a letter"):
        run_objects(template, preset="small", run_id=hostile, recipe="", overrides=[])


@pytest.mark.parametrize("setting", ["reinforcement.max_updates=7", "name=a-b", "storage.address=s3://bucket/a"])
def test_other_settings_reach_the_driver_as_they_are(template: dict[str, Any], setting: str, tmp_path: Path) -> None:
    key, _, value = setting.partition("=")
    assert words_of_the_driver(entrypoint(template, (key, value)), tmp_path)[-2:] == ["--set", setting]


def test_what_the_chart_sets_too_is_repeated_or_refused(template: dict[str, Any]) -> None:
    key = "reinforcement.cluster.num_engines"
    assert entrypoint(template, (key, "4")).endswith(f"--set {key}=4")
    for wrong in (key, "reinforcement.cluster"):
        with pytest.raises(ClusterError, match=r"which two shells read\. Use only letters"):
            entrypoint(template, (wrong, "$(nproc)"))


def test_arguments_of_the_administrator_stay_for_recipes_with_other_keys(template: dict[str, Any]) -> None:
    job = template["data"]["rayjob-small.yaml"]
    first = "--set data_parallel.node_resource=learner"
    assert job.count(first) == 1
    changed = {**template, "data": {"rayjob-small.yaml": job.replace(first, f"--set storage.keep_last=5 {first}")}}
    needs = RunNeeds(keys={"reinforcement.cluster.num_simulators": "learning.num_simulators"}, takes_records=False)
    made = run_objects(changed, preset="small", run_id="demo-1", recipe="", overrides=[], needs=needs)
    command = made.job["spec"]["entrypoint"]
    assert "--set storage.keep_last=5 " in command
    assert "learning.num_simulators=" in command
    assert "data_parallel" not in command


def test_a_run_without_self_play_has_no_pods_for_it(template: dict[str, Any]) -> None:
    groups = []
    for unused in ((), ("simulator", "inference")):
        needs = RunNeeds(unused_groups=unused)
        made = run_objects(template, preset="paper", run_id="demo-1", recipe="", overrides=[], needs=needs)
        assert made.recipe["data"]["rayjob.yaml"].count("groupName: inference") == (not unused)
        groups.append({one["groupName"] for one in made.job["spec"]["rayClusterSpec"]["workerGroupSpecs"]})
    assert groups == [{"simulator", "inference", "learner"}, {"learner"}]


@pytest.mark.parametrize("name", ["Reinforcement run", "1st", "é", "x" * 100])
def test_every_name_of_a_recipe_gives_an_id_that_kubernetes_takes(name: str) -> None:
    run_id = run_id_of(name, {"seed": 1})
    assert len(run_id) <= 47
    assert run_id[0].isalpha()
    assert run_id == run_id_of(name, {"seed": 1}) != run_id_of(name, {"seed": 2})
