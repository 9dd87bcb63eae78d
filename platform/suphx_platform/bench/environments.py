"""How many steps a second the vector environment makes on one core, and how peers compare."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack

import numpy as np

from suphx.environments.riichi_env import RiichiVectorEnv
from suphx.games.riichi.peers import RiichiEnvPeer
from suphx_platform.bench.mahjax_peer import MahjaxPeer, start_mahjax
from suphx_platform.bench.timing import compare_rates

ENVIRONMENT_PEERS = ("riichienv", "mahjax")
_PEER_STEPS = 200
"""Of one measured call of riichienv."""
_MAHJAX_TABLES, _MAHJAX_STEPS = 256, 4
"""Of one measured call of mahjax: larger calls are not faster."""

Calls = dict[str, Callable[[], int]]


def bench_environments(
    *,
    num_tables: int,
    num_steps: int,
    encoder: str,
    opponents: str,
    seed: int,
    peers: Sequence[str],
    mahjax_python: str | None,
    seconds: float,
    say: Callable[[str], None],
) -> dict[str, object]:
    """Return the JSON object of ``suphx bench environments``; what was not measured is null.

    A step is one decision of the player at one table: its observation, its mask, a random legal action, and the
    opponents' decisions until its next one; with ``every_seat`` the player decides at all four seats. All candidates
    take turns, and each uses one core. ``mahjax_python``: the Python that has mahjax; None: this one. ValueError for a
    peer that is unknown or not installed.
    """
    unknown = [name for name in peers if name not in ENVIRONMENT_PEERS]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no environment to compare with: use {', '.join(ENVIRONMENT_PEERS)}")
    with ExitStack() as stack:
        riichienv = RiichiEnvPeer() if "riichienv" in peers else None
        mahjax = None
        if "mahjax" in peers:
            say("compiling mahjax")
            mahjax = stack.enter_context(
                start_mahjax(
                    mahjax_python or sys.executable, num_tables=_MAHJAX_TABLES, num_steps=_MAHJAX_STEPS, seed=seed
                )
            )
        say("compiling or loading kernels")
        calls = _own_calls(num_tables, num_steps, encoder, opponents, seed) | _peer_calls(riichienv, mahjax, seed)
        for call in calls.values():
            call()
        say(f"stepping {num_tables:,} tables")
        rates = compare_rates(calls, seconds=seconds)
    own = {
        "steps_per_second": rates["packed"],
        "unpacked_steps_per_second": rates["planes"],
        "every_seat_steps_per_second": rates["every seat"],
    }
    peer_rates = _peers(riichienv, mahjax, rates)
    return {
        **own,
        "tables": num_tables,
        "encoder": encoder,
        "opponents": opponents,
        "seed": seed,
        "peers": peer_rates,
        "ratios": _ratios(own, peer_rates),
    }


def _own_calls(num_tables: int, num_steps: int, encoder: str, opponents: str, seed: int) -> Calls:
    return {
        "packed": _stepper(num_tables, num_steps, encoder, opponents, seed, is_packed=True),
        "planes": _stepper(num_tables, num_steps, encoder, opponents, seed, is_packed=False),
        "every seat": _stepper(num_tables, num_steps, encoder, None, seed, is_packed=True),
    }


def _peer_calls(riichienv: RiichiEnvPeer | None, mahjax: MahjaxPeer | None, seed: int) -> Calls:
    calls: Calls = {}
    if riichienv is not None:
        calls["riichienv"] = riichienv.prepare_steps(_PEER_STEPS, seed)
        calls["riichienv, every seat"] = riichienv.prepare_steps(_PEER_STEPS, seed, every_seat=True)
    if mahjax is not None:
        calls["mahjax"] = lambda: mahjax.play("observed")
        calls["mahjax, unobserved"] = lambda: mahjax.play("unobserved")
    return calls


def _peers(
    riichienv: RiichiEnvPeer | None, mahjax: MahjaxPeer | None, rates: dict[str, float]
) -> dict[str, dict[str, object]]:
    """Return what is known of each peer."""
    peers: dict[str, dict[str, object]] = {}
    if riichienv is not None:
        peers[riichienv.name] = {
            "version": riichienv.version,
            "steps_per_second": rates["riichienv"],
            "every_seat_steps_per_second": rates["riichienv, every seat"],
        }
    if mahjax is not None:
        peers[mahjax.name] = {
            "version": f"{mahjax.version} on jax {mahjax.jax_version}",
            "every_seat_steps_per_second": rates["mahjax"],
            "unobserved_steps_per_second": rates["mahjax, unobserved"],
            "compile_seconds": mahjax.compile_seconds,
        }
    return peers


def _ratios(own: Mapping[str, float], peers: Mapping[str, Mapping[str, object]]) -> dict[str, dict[str, float]]:
    """Return our rates divided by those of each peer, for what both have done."""
    return {
        name: {key: own[key] / rate for key, rate in peer.items() if key in own and isinstance(rate, float)}
        for name, peer in peers.items()
    }


def _stepper(
    num_tables: int, num_steps: int, encoder: str, opponents: str | None, seed: int, *, is_packed: bool
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
