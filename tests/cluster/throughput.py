"""How fast self-play is on the chart's pods (hosts of their own, see ray_pod) beside the same run on plain local Ray.

``python -m tests.cluster.throughput`` (root; ``make cluster-bench``) prints JSON: decisions a second of every round, in
turn on this machine and on the pods, and ``ratio``, pods over local. Nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from suphx_pipelines.recipe.recipe_file import to_toml
from suphx_platform.cluster.run_manifest import RunObjects, run_objects
from tests.cluster.pod_cluster import PodCluster, wait
from tests.cluster.pod_network import missing, pod_network
from tests.cluster.services import bare_template
from tests.repository import RECIPES
from tests.suphx_pipelines.recipe.small_recipe import load_recipe

RECIPE = RECIPES / "reinforcement.toml"
RUN = "throughput"
SETTINGS = [
    ("reinforcement.evaluate_every", "0"),
    ("reinforcement.evaluation_hanchans", "8"),
    ("reinforcement.evaluation_deals", "0"),
    ("reinforcement.final_hanchans", "0"),
    ("reinforcement.report_every", "2"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=60, help="updates of each run; the first third does not count")
    parser.add_argument("--rounds", type=int, default=2, help="runs of each kind")
    args = parser.parse_args()
    if missing():
        sys.exit(missing())
    made = _objects(args.updates)
    rates: dict[str, list[float]] = {"local": [], "pods": []}
    for number in range(args.rounds):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            rates["local"].append(_rate(_run_here(made, folder / "local"), args.updates))
            rates["pods"].append(_rate(_run_on_pods(made, folder / "pods"), args.updates))
        print(f"round {number + 1}: {rates['local'][-1]:,.0f} local, {rates['pods'][-1]:,.0f} pods", file=sys.stderr)
    means = {kind: statistics.fmean(values) for kind, values in rates.items()}
    print(json.dumps({"decisions_per_second": rates, "ratio": means["pods"] / means["local"]}, indent=2))


def _objects(updates: int) -> RunObjects:
    """What ``suphx launch`` would create with the chart's smallest preset, without storage and tracking."""
    recipe = load_recipe(RECIPE, [*SETTINGS, ("reinforcement.max_updates", str(updates))])
    return run_objects(bare_template(), preset=None, run_id=RUN, recipe=to_toml(recipe), overrides=[])


def _run_here(made: RunObjects, folder: Path) -> Path:
    """Run the entrypoint of the job on this machine; return its folder of runs."""
    folder.mkdir()
    (folder / "recipe.toml").write_text(made.recipe["data"]["recipe.toml"])
    words = shlex.split(made.job["spec"]["entrypoint"].replace("/recipes", str(folder)))
    words[words.index("--runs") + 1] = str(folder / "runs")
    with (folder / "log").open("wb") as log:
        result = subprocess.run([str(Path(sys.executable).parent / words[0]), *words[1:]], stdout=log, stderr=log)
    if result.returncode:
        sys.exit((folder / "log").read_text()[-3000:])
    return folder / "runs"


def _run_on_pods(made: RunObjects, folder: Path) -> Path:
    folder.mkdir()
    with pod_network() as network:
        cluster = PodCluster(made, {}, folder, network)
        try:
            cluster.start(1)
            wait("the end", lambda: cluster.client.status(cluster.job) in ("SUCCEEDED", "FAILED"), 3600)
            if cluster.client.status(cluster.job) == "FAILED":
                sys.exit(cluster.client.log(cluster.job)[-3000:])
        finally:
            cluster.stop()
    return cluster.runs(1)


def _rate(runs: Path, updates: int) -> float:
    """Return decisions a second of a finished run after its first third, in which processes start and deals begin."""
    metrics = json.loads((runs / RUN / "reinforcement" / "metrics.json").read_text())
    history: Sequence[Mapping[str, Any]] = metrics["history"]
    first = next(entry for entry in history if entry["updates"] * 3 >= updates)
    spent = history[-1]["seconds"] - first["seconds"]
    return float((history[-1]["decisions"] - first["decisions"]) / spent)


if __name__ == "__main__":
    os.environ.pop("RAY_ADDRESS", None)
    main()
