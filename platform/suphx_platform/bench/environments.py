"""How many steps a second the vector environment makes on one core, and how a peer compares."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from suphx.environments.riichi_vector_env import RiichiVectorEnv
from suphx.games.riichi import RiichiEnvPeer
from suphx_platform.bench.timing import compare_rates

ENVIRONMENT_PEERS = ("riichienv",)
_PEER_STEPS = 200
"""Of one measured call of a peer."""


def bench_environments(
    *,
    num_tables: int,
    num_steps: int,
    encoder: str,
    opponents: str,
    seed: int,
    peer: str | None,
    seconds: float,
    say: Callable[[str], None],
) -> dict[str, object]:
    """Return the JSON object of ``suphx bench environments``; what was not measured is null.

    A step is one decision of the player at one table: its observation, its mask, a random legal action, and the
    opponents' decisions until its next one. Packed, unpacked and the peer take turns; all use one thread. ValueError
    for a peer that is unknown or not installed.
    """
    other = _load(peer)
    say("compiling or loading kernels")
    calls = {
        name: _stepper(num_tables, num_steps, encoder, opponents, seed, is_packed=name == "packed")
        for name in ("packed", "planes")
    }
    if other is not None:
        calls["peer"] = other.prepare_steps(_PEER_STEPS, seed)
    for call in calls.values():
        call()
    say(f"stepping {num_tables:,} tables")
    rates = compare_rates(calls, seconds=seconds)
    return {
        "steps_per_second": rates["packed"],
        "unpacked_steps_per_second": rates["planes"],
        "tables": num_tables,
        "encoder": encoder,
        "opponents": opponents,
        "seed": seed,
        "peer": other and {"name": other.name, "version": other.version, "steps_per_second": rates["peer"]},
        "ratio": rates["packed"] / rates["peer"] if other else None,
    }


def _load(peer: str | None) -> RiichiEnvPeer | None:
    if peer is None:
        return None
    if peer not in ENVIRONMENT_PEERS:
        raise ValueError(f"{peer!r} is no environment to compare with: use {', '.join(ENVIRONMENT_PEERS)}")
    return RiichiEnvPeer()


def _stepper(
    num_tables: int, num_steps: int, encoder: str, opponents: str, seed: int, *, is_packed: bool
) -> Callable[[], int]:
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
