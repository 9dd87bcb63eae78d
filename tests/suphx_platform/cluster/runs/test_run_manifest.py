"""The command of a run survives the shells that read it: KubeRay's submitter has one, Ray's head another."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from suphx_platform.cluster.cluster_error import ClusterError
from suphx_platform.cluster.runs.run_manifest import RunNeeds, run_id_of, run_objects

EVIL = ["seed=1; touch owned", "seed=$HOME", "seed=`id`", "name=a && touch owned", 'name="a $(id)"', "name='a b'"]


def entrypoint(template: dict[str, Any], *overrides: tuple[str, str]) -> str:
    made = run_objects(template, preset="small", run_id="demo-1", recipe="seed = 1\n", overrides=list(overrides))
    return str(made.job["spec"]["entrypoint"])


@pytest.mark.parametrize("setting", [*EVIL, "reinforcement.max_updates=7", 'reinforcement.heads=["discard"]'])
def test_no_shell_changes_the_command(template: dict[str, Any], setting: str, tmp_path: Path) -> None:
    key, _, value = setting.partition("=")
    command = entrypoint(template, (key, value))
    for line in (f"printf '%s\\n' {command}", f"sh -c \"printf '%s\\n' {command}\""):
        done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout.splitlines() == shlex.split(command)
    assert list(tmp_path.iterdir()) == []


def test_what_the_chart_sets_too_is_repeated_or_refused(template: dict[str, Any]) -> None:
    key = "reinforcement.cluster.num_engines"
    assert entrypoint(template, (key, "4")).endswith(f"--set {key}=4")
    for wrong in (key, "reinforcement.cluster"):
        with pytest.raises(ClusterError, match=r"which two shells read\. Use only letters"):
            entrypoint(template, (wrong, "$(nproc)"))


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
