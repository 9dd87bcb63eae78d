from __future__ import annotations

from typing import Any

import pytest

from suphx_platform.cluster.cluster_error import ClusterError
from suphx_platform.cluster.runs.run_resize import resized_group, resized_job


def cluster(least: int | None) -> dict[str, Any]:
    """Return the spec of a RayCluster with two groups; ``least``: minReplicas of the simulators."""
    simulator = {"groupName": "simulator", "replicas": 4, "maxReplicas": 4, "resources": {"simulator": "2"}}
    own = simulator if least is None else {**simulator, "minReplicas": least}
    return {"rayVersion": "2.60.0", "workerGroupSpecs": [{"groupName": "learner", "replicas": 1}, own]}


@pytest.mark.parametrize(
    ("least", "pods", "numbers"),
    [
        (1, 6, (1, 6, 6)),
        (4, 2, (2, 2, 2)),  # a minimum above the number of pods would be refused
        (1, 0, (0, 0, 1)),  # a maximum of 0 would be none at all
        (None, 3, (0, 3, 3)),
    ],
)
def test_the_limits_follow_the_number_of_pods(least: int | None, pods: int, numbers: tuple[int, int, int]) -> None:
    learner, simulator = resized_group(cluster(least), pods)["workerGroupSpecs"]
    assert learner == {"groupName": "learner", "replicas": 1}
    assert tuple(simulator[key] for key in ("minReplicas", "replicas", "maxReplicas")) == numbers
    assert simulator["resources"] == {"simulator": "2"}


@pytest.mark.parametrize("section", ["reinforcement.cluster", "cluster"])  # riichi, other games
def test_a_job_starts_as_many_simulators_as_its_pods_have_places(section: str) -> None:
    entrypoint = f"suphx run a.toml --set {section}.num_simulators=8 --set seed=8"
    patch = resized_job({"spec": {"entrypoint": entrypoint, "rayClusterSpec": cluster(1)}}, 3)
    assert patch["spec"]["entrypoint"] == entrypoint.replace("num_simulators=8", "num_simulators=6")
    assert patch["spec"]["rayClusterSpec"]["rayVersion"] == "2.60.0"
    assert patch["spec"]["rayClusterSpec"]["workerGroupSpecs"][1]["replicas"] == 3


def test_a_tournament_is_not_resized() -> None:
    job = {"spec": {"entrypoint": "suphx tournament a.toml --set workers=8", "rayClusterSpec": cluster(1)}}
    with pytest.raises(ClusterError, match=r"as many pods as nightly\.workers"):
        resized_job(job, 3)


def test_a_cluster_without_simulators_is_refused() -> None:
    with pytest.raises(ClusterError, match="no worker group simulator: its recipe has no self-play"):
        resized_group({"workerGroupSpecs": [{"groupName": "learner"}]}, 2)
