from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from multiprocessing import parent_process
from pathlib import Path

import pytest

from suphx import play_match as play_here
from suphx.games.riichi.table.rules import tonpuu
from suphx.selfplay.agents.agent import Agent, load_agent
from suphx_platform.backend.self_play_match import MatchOutcome
from suphx_platform.on_ray.ray_session import ray_session
from suphx_platform.on_ray.topology import play_match
from suphx_platform.parts.ray_layout_config import BESIDE, MAX_BUFFERS, PLACE

pytestmark = [pytest.mark.ray, pytest.mark.slow]


def test_a_learner_fits_on_a_node_with_the_largest_number_of_buffers() -> None:
    """The resources of all actors that may be on one node for a learner, as Ray counts them."""
    from ray.util.placement_group import placement_group

    beside = MAX_BUFFERS + len(["parameter server", "driver of several learners"])
    with ray_session(num_cpus=1, resources={"learner": 1}):
        actors = [{"learner": PLACE}, *({"learner": BESIDE} for _ in range(beside))]
        assert placement_group(actors).wait(60)


def load_or_die(address: str) -> Agent:
    """Kill the process that is to play if the file that is named behind the agent is there, and remove it before."""
    name, _, wish = address.partition("@")
    if wish and parent_process() is not None and Path(wish).exists():
        Path(wish).unlink(missing_ok=True)
        os.kill(os.getpid(), signal.SIGKILL)
    return load_agent(name)


@dataclass(frozen=True)
class Order:
    """Stands where a ``MatchOrder`` does, with agents that need no nets."""

    folder: Path
    wish: Path

    def play(self) -> MatchOutcome:
        rules, agent = tonpuu(), f"ukeire@{self.wish}"
        match = play_here(agent, "tsumogiri", num_hanchans=400, seed=1, workers=2, rules=rules, load=load_or_die)
        return MatchOutcome(match, None)


def test_a_match_beside_self_play_is_played_anew_when_one_of_its_processes_dies(tmp_path: Path) -> None:
    import ray

    wish = tmp_path / "wish"
    wish.touch()
    with ray_session(num_cpus=1, resources={"simulator": 1}):
        outcome = ray.get(play_match.remote(Order(tmp_path, wish), {}))
    assert not wish.exists()
    assert outcome.match.hanchans == 400
