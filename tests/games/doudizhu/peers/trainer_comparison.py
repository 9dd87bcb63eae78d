"""DouZero's own trainer and ours, for the same time on the same cores, one after the other; then they play each other.

``python -m tests.games.doudizhu.peers.trainer_comparison --minutes 30`` prints one JSON object. Both learn the share of
games won by DouZero's rules, from their first weights, with their default settings. Every deck is played twice, with
the sides swapped; figures are those of the nets that are named first. Needs PyPI ``douzero``.

The default settings are not equal. DouZero's batch has 32 x 100 = 3,200 moves of one net, ours a quarter of the moves
of 64 games, about 200 of each net; so ours takes many more optimizer steps. Ours are the nets of the best of its
evaluations against ``random``, with averaged weights; DouZero's are the raw weights when the time is over.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from suphx.evaluation.game_runner import GameRunner
from suphx.evaluation.match import MatchSetup, play_side_match
from suphx.games.doudizhu.table import SEAT_NAMES, Rules
from suphx.games.game import Agent
from suphx.games.registry import candidate_game
from suphx.models.device import torch_threads
from suphx.selfplay.agents.policy_set import PolicySet
from suphx.selfplay.layout import RoundLayoutConfig
from suphx.training.config import MonteCarloConfig
from suphx.training.monte_carlo_learning import ValueTrainer
from suphx_platform.ray.backend import ray_backend
from suphx_platform.ray.parts import monte_carlo_parts
from suphx_platform.ray.task_matches import TaskMatches
from tests.games.doudizhu.builders import new_agent
from tests.games.doudizhu.peers.douzero import nets_of_douzero
from tests.repository import REPOSITORY

GAME = candidate_game("doudizhu")
RULES = Rules(douzero_kickers=True)
_TRAINING = "tests.games.doudizhu.peers.douzero"
_FIRST_DECK = 2**34


def train_douzero(folder: Path, minutes: float, cores: Sequence[int], num_actors: int) -> tuple[PolicySet, int]:
    """Return the weights of DouZero's trainer when the time is over, and the number of moves that it learned from."""
    folder = folder.resolve()
    command = [sys.executable, "-m", _TRAINING, str(folder), str(60 * minutes), str(num_actors)]
    threads = {"OMP_NUM_THREADS": "1"}  # its actors are processes of their own
    paths = os.pathsep.join([str(REPOSITORY), *filter(None, sys.path)])
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "trainer.log"
    with log.open("wb") as output:
        done = subprocess.run(
            ["taskset", "--cpu-list", ",".join(map(str, cores)), *command],
            cwd=folder,  # in a repository, its log asks for the branch, which a checkout of CI has none of
            env={**os.environ, **threads, "PYTHONPATH": paths},
            check=False,
            stdout=output,
            stderr=output,
        )
    if done.returncode:
        tail = log.read_text(errors="replace")[-2000:]
        raise ChildProcessError(f"DouZero's trainer ended with exit status {done.returncode} ({log}): {tail}")
    weights = {seat: torch.load(folder / f"{seat}.pt", weights_only=True) for seat in SEAT_NAMES}
    return nets_of_douzero(weights), int((folder / "frames.txt").read_text())


def train_ours(
    folder: Path, minutes: float, cores: Sequence[int], seed: int, num_simulators: int
) -> tuple[PolicySet, int]:
    """Return our best nets after the same time, evaluations included, and the number of moves.

    ``num_simulators``: over Ray; 0: in one process. Processes of Ray get the cores of this one.
    """
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    config = MonteCarloConfig(max_minutes=minutes, threads=1 if num_simulators else len(cores), seed=seed)
    layout = RoundLayoutConfig(on_ray=True, num_simulators=max(num_simulators, 1))
    parts = monte_carlo_parts(config, layout, GAME.name, RULES)
    new_backend = partial(ray_backend, parts, new_matches=TaskMatches) if num_simulators else None
    try:
        trained, progress = ValueTrainer(
            config, GAME, RULES, folder, report=lambda entry: _say(str(entry)), new_backend=new_backend
        ).run()
    finally:
        os.sched_setaffinity(0, before)
    return trained, progress.samples


def compare(
    folder: Path, *, minutes: float, num_cores: int, num_actors: int, num_simulators: int, decks: int, seed: int
) -> dict[str, Any]:
    """Train both and return the figures; ValueError if this process may not use so many cores."""
    available = sorted(os.sched_getaffinity(0))
    if num_cores > len(available):
        raise ValueError(f"{num_cores} cores are wanted, {len(available)} are there")
    cores = available[:num_cores]
    _say(f"DouZero trains for {minutes} minutes on {num_cores} cores")
    theirs, frames = train_douzero(folder / "douzero", minutes, cores, num_actors)
    _say("we train")
    ours, rows = train_ours(folder / "ours", minutes, cores, seed, num_simulators)
    players = {"ours": new_agent(ours, RULES), "douzero": new_agent(theirs, RULES)}
    found: dict[str, Any] = {"minutes": minutes, "cores": num_cores, "decks": decks}
    found |= {"douzero_actors": num_actors, "simulators": num_simulators, "seed": seed}
    found |= {"moves_learned_from": {"ours": rows, "douzero": frames}}
    with torch_threads(num_cores):
        found["ours_against_douzero"] = _match(players["ours"], players["douzero"], decks)
        for name, player in players.items():
            for agent in GAME.agents:
                found[f"{name}_against_{agent}"] = _match(player, GAME.scripted_agent(agent), decks)
    return found


def _match(first: Agent, second: Agent, decks: int) -> dict[str, Any]:
    agents = {"first": first, "second": second}
    setup = MatchSetup(*agents, seed=0, game=GAME.name, rules=RULES, first_deal=_FIRST_DECK)
    return play_side_match(setup, decks, runner=GameRunner(load=agents.__getitem__)).to_json()


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main(words: Sequence[str] | None = None) -> dict[str, Any]:
    """Compare as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0, help="time for each trainer (default: 30)")
    parser.add_argument("--cores", type=int, default=2, help="cores for each trainer (default: 2)")
    parser.add_argument("--actors", type=int, help="actors of DouZero (default: one per core)")
    parser.add_argument("--simulators", type=int, default=0, help="ours, over Ray (default: 0 = one process)")
    parser.add_argument("--decks", type=int, default=1000, help="decks of each match (default: 1000)")
    parser.add_argument("--seed", type=int, default=1, help="seed of our training (default: 1)")
    parser.add_argument("--folder", type=Path, help="keep the nets here (default: a temporary folder)")
    args = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="suphx-comparison-") as space:
        return compare(
            args.folder or Path(space),
            minutes=args.minutes,
            num_cores=args.cores,
            num_actors=args.actors or args.cores,
            num_simulators=args.simulators,
            decks=args.decks,
            seed=args.seed,
        )


if __name__ == "__main__":
    print(json.dumps(main()))
