"""Steps per second of the vector environment on one core, and of other environments in the same run.

``python benchmarks/environments.py --peer riichienv mahjax --mahjax-python mahjax/bin/python``. A step is one decision
of the player at one table: its observation, its mask, a random legal action, and the opponents' decisions until its
next one; at every seat: the player decides at all four seats. docs/measuring.md explains the figures.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from benchmarks.engines import RiichiEnvPeer
from suphx.environments.riichi_env import RiichiVectorEnv
from suphx.games.registry import agent_names
from suphx.json_text import parse_json
from suphx_platform.bench.riichi import compare_rates

RIICHIENV_STEPS = 200
"""Of one measured call."""
MAHJAX_TABLES, MAHJAX_STEPS = 256, 4
"""Of one measured call: larger calls are not faster."""
Calls = dict[str, Callable[[], int]]


def main() -> None:
    """Measure and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", nargs="+", default=[], choices=("riichienv", "mahjax"))
    parser.add_argument("--mahjax-python", default=sys.executable, metavar="FILE", help="of an environment with mahjax")
    parser.add_argument("--tables", type=int, default=512, help="tables per call")
    parser.add_argument("--steps", type=int, default=20, help="steps of all tables per measured call")
    parser.add_argument("--encoder", default="mini")
    parser.add_argument("--opponents", choices=agent_names("riichi"), default="random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each environment in each of 3 rounds")
    args = parser.parse_args()
    shape = {"num_tables": args.tables, "num_steps": args.steps, "encoder": args.encoder, "seed": args.seed}
    calls = {
        "steps": stepper(**shape, opponents=args.opponents, is_packed=True),
        "unpacked_steps": stepper(**shape, opponents=args.opponents, is_packed=False),
        "every_seat_steps": stepper(**shape, opponents=None, is_packed=True),
    }
    with ExitStack() as stack:
        if "riichienv" in args.peer:
            peer = RiichiEnvPeer()
            calls["riichienv steps"] = peer.prepare_steps(RIICHIENV_STEPS, args.seed)
            calls["riichienv every_seat_steps"] = peer.prepare_steps(RIICHIENV_STEPS, args.seed, every_seat=True)
        if "mahjax" in args.peer:
            play = stack.enter_context(mahjax(args.mahjax_python, args.seed))
            calls["mahjax every_seat_steps"] = lambda: play("observed")
            calls["mahjax unobserved_steps"] = lambda: play("unobserved")
        for call in calls.values():
            call()  # compiles
        rates = compare_rates(calls, seconds=args.seconds)
    own = {f"{name}_per_second": rate for name, rate in rates.items() if " " not in name}
    print(json.dumps({**own, "peers": {name: _compared(name, rates) for name in args.peer}}, indent=2))


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


@contextmanager
def mahjax(python: str, seed: int) -> Iterator[Callable[[str], int]]:
    """Yield what plays ``observed`` or ``unobserved`` decisions in a process of ``python``, which ends with the block.

    It waits until the process has compiled, which takes minutes. ValueError if the process ends.
    """
    program = Path(__file__).with_name("mahjax_process.py")
    command = [python, str(program), str(MAHJAX_TABLES), str(MAHJAX_STEPS), str(seed)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        writer, reader = process.stdin, process.stdout

        def answer() -> str:
            if line := reader.readline():
                return line
            raise ValueError(f"mahjax ended with status {process.wait()}: its last messages are above")

        def play(kind: str) -> int:
            writer.write(f"{kind}\n")
            writer.flush()
            return int(answer())

        try:
            print("mahjax:", parse_json(answer()), file=sys.stderr)
            yield play
        finally:
            process.kill()


def _compared(peer: str, rates: dict[str, float]) -> dict[str, float]:
    """Return the rates of a peer, and ours over those of what both have done."""
    theirs = {name.removeprefix(f"{peer} "): rate for name, rate in rates.items() if name.startswith(peer)}
    ratios = {f"ratio_of_{name}": rates[name] / rate for name, rate in theirs.items() if name in rates}
    return {f"{name}_per_second": rate for name, rate in theirs.items()} | ratios


if __name__ == "__main__":
    main()
