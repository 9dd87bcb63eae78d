"""The program that steps Mahjax's tables: ``PYTHON mahjax_process.py TABLES STEPS SEED``, with the Python that has it.

It needs jax and mahjax and nothing of this project. One line of JSON on its standard output says that the tables are
ready, with versions and the seconds that the compilation took. Then each line on its standard input, ``observed`` or
``unobserved``, makes all tables play STEPS decisions, with and without observations, and is answered with the number of
decisions. At the end of its input it ends.

Everything is as fast as Mahjax allows on a CPU: one compiled call plays STEPS decisions of all tables. Games that are
over start again between two calls, because Mahjax's wrapper would deal a new game for every table at every step.
"""

from __future__ import annotations

import json
import os
import sys
import time
from importlib.metadata import version
from typing import Any

MISSING = 3
"""Exit status if jax or mahjax is missing; the last line on standard error names it."""


class Tables:
    """Hanchans side by side, with red fives; every seat plays random legal moves."""

    def __init__(self, num_tables: int, num_steps: int, seed: int) -> None:
        import jax
        import mahjax

        self._jax = jax
        env = mahjax.make("red_mahjong", round_mode="half", observe_type="dict")
        self._num_tables, self._num_steps = num_tables, num_steps
        self._step, self._init, self._observe = jax.vmap(env.step), jax.vmap(env.init), jax.vmap(env.observe)
        self._key = jax.random.PRNGKey(seed)
        self._states = self._typed(jax.jit(self._init)(self._keys()))
        self._observations = self._typed(jax.jit(self._observe)(self._states))
        self._restart = jax.jit(self._restarted)
        self._plays = {"observed": jax.jit(self._observed), "unobserved": jax.jit(self._unobserved)}

    def play(self, kind: str) -> int:
        """Play and return the number of decisions; those at tables whose game is over do not count."""
        keys = self._jax.random.split(self._next_key(), self._num_steps)
        self._states, self._observations, decisions = self._plays[kind](self._states, self._observations, keys)
        self._states = self._restart(self._states, self._keys())
        return int(self._jax.block_until_ready(decisions))

    def _observed(self, states: Any, observations: Any, keys: Any) -> Any:
        """The observations are part of what passes from step to step: none may be left out by the compiler."""

        def step(carry: Any, key: Any) -> Any:
            states, count = self._decide(carry[0], key)
            return (states, self._observe(states)), count

        (states, observations), counts = self._jax.lax.scan(step, (states, observations), keys)
        return states, observations, counts.sum()

    def _unobserved(self, states: Any, observations: Any, keys: Any) -> Any:
        states, counts = self._jax.lax.scan(self._decide, states, keys)
        return states, observations, counts.sum()

    def _decide(self, states: Any, key: Any) -> Any:
        """Play a random legal move at each table; return also how many games were under way."""
        choice, deal = self._jax.random.split(key)
        chances = self._jax.random.uniform(choice, states.legal_action_mask.shape)
        actions = (chances * states.legal_action_mask).argmax(axis=1)
        playing = (~states.terminated).sum()
        return self._step(states, actions, self._jax.random.split(deal, self._num_tables)), playing

    def _restarted(self, states: Any, keys: Any) -> Any:
        numpy = self._jax.numpy

        def choose(old: Any, new: Any) -> Any:
            is_over = states.terminated.reshape((-1,) + (1,) * (old.ndim - 1))
            return numpy.where(is_over, new, old)

        return self._jax.tree_util.tree_map(choose, states, self._init(keys))

    def _typed(self, arrays: Any) -> Any:
        """Return arrays whose types are not weak, as those after a step: other types would be compiled once more."""
        convert = self._jax.lax.convert_element_type
        return self._jax.tree_util.tree_map(lambda array: convert(array, array.dtype), arrays)

    def _keys(self) -> Any:
        return self._jax.random.split(self._next_key(), self._num_tables)

    def _next_key(self) -> Any:
        self._key, key = self._jax.random.split(self._key)
        return key


def main() -> int:
    """Serve until the input ends; return the exit status."""
    num_tables, num_steps, seed = map(int, sys.argv[1:])
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # XLA takes as many threads as there are cores
    started = time.perf_counter()
    try:
        tables = Tables(num_tables, num_steps, seed)
    except ModuleNotFoundError as error:
        print(error, file=sys.stderr)
        return MISSING
    for kind in ("observed", "unobserved"):
        tables.play(kind)
    seconds = time.perf_counter() - started
    versions = {name: version(name) for name in ("mahjax", "jax")}
    print(json.dumps({"compile_seconds": seconds, **versions}), flush=True)
    for line in sys.stdin:
        print(tables.play(line.strip()), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
