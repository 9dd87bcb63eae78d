"""Steps per second of the vector environment on one core, and of RiichiEnv in the same run.

``python benchmarks/environments.py --peer riichienv``. A step is one decision of the player at one table: its
observation, its mask, a random legal action, and the opponents' decisions until its next one; at every seat: the player
decides at all four seats. docs/measuring.md explains the figures.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable

import numpy as np

from benchmarks.engines import RiichiEnvPeer
from suphx.environments.riichi_env import RiichiVectorEnv
from suphx.games.registry import agent_names
from suphx_platform.bench.riichi import compare_rates

PEER_STEPS = 200
"""Of one measured call."""


def main() -> None:
    """Measure and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", choices=("riichienv",))
    parser.add_argument("--tables", type=int, default=512, help="tables per call")
    parser.add_argument("--steps", type=int, default=20, help="steps of all tables per measured call")
    parser.add_argument("--encoder", default="mini")
    parser.add_argument("--opponents", choices=agent_names("riichi"), default="random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each environment in each of 3 rounds")
    args = parser.parse_args()
    shape = {"num_tables": args.tables, "num_steps": args.steps, "encoder": args.encoder, "seed": args.seed}
    own = {
        "steps": stepper(**shape, opponents=args.opponents, is_packed=True),
        "unpacked_steps": stepper(**shape, opponents=args.opponents, is_packed=False),
        "every_seat_steps": stepper(**shape, opponents=None, is_packed=True),
    }
    theirs: dict[str, Callable[[], int]] = {}
    if args.peer:
        peer = RiichiEnvPeer()
        theirs["steps"] = peer.prepare_steps(PEER_STEPS, args.seed)
        theirs["every_seat_steps"] = peer.prepare_steps(PEER_STEPS, args.seed, every_seat=True)
    calls = {**own, **{f"{args.peer} {name}": call for name, call in theirs.items()}}
    for call in calls.values():
        call()  # compiles
    rates = compare_rates(calls, seconds=args.seconds)
    values: dict[str, object] = {f"{name}_per_second": rates[name] for name in own}
    if args.peer:
        found = {name: rates[f"{args.peer} {name}"] for name in theirs}
        per_second = {f"{name}_per_second": rate for name, rate in found.items()}
        values["peers"] = {args.peer: per_second | {f"ratio_of_{name}": rates[name] / found[name] for name in found}}
    print(json.dumps(values, indent=2))


def stepper(
    *, num_tables: int, num_steps: int, encoder: str, opponents: str | None, seed: int, is_packed: bool
) -> Callable[[], int]:
    """Return a call that makes ``num_steps`` steps of random actions at each table, and returns their number."""
    env = RiichiVectorEnv(num_tables, encoder=encoder, opponents=opponents, packed=is_packed, copy=False)
    masks = env.reset(seed=seed)[1]["action_mask"]  # the same array after every step
    random = np.random.default_rng(seed)
    keys = np.empty(masks.shape, np.float32)

    def step() -> int:
        for _ in range(num_steps):
            random.random(dtype=np.float32, out=keys)
            env.step(np.multiply(keys, masks, out=keys).argmax(axis=1))
        return num_tables * num_steps

    return step


if __name__ == "__main__":
    main()
