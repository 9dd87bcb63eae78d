"""A policy that was trained in the environments, as an agent."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from suphx.games.mahjong.planes import NUM_COLUMNS
from suphx.games.riichi.bots import EVERY_SEAT, fill_planes, see_tables
from suphx.games.riichi.features.encoder import decision_layout, find_encoder
from suphx.games.riichi.features.suit_targets import load_lookup
from suphx.games.riichi.table import NUM_ACTIONS, action_name
from suphx.kernel.record import I8, I16, I64, U8, Records, as_integers

Policy = Callable[[U8, I8], ArrayLike]
"""Gets observations and action masks of n decisions; returns n legal actions."""


class PolicyAgent:
    """An agent that sees what the environments show, and nothing hidden: for matches, games, reviews, and as opponent.

    ``policy(observations, action_masks)`` gets observations, uint8 [n, planes, 34] (packed: [n, observation_bytes]),
    and masks, int8 [n, 120], and returns n legal actions, as for ``RiichiVectorEnv.step``. ``layout``: the names and
    places of the planes.

    >>> from suphx import PolicyAgent, play_match
    >>> def lowest_legal(observations, action_masks):  # a trained net goes here
    ...     return action_masks.argmax(axis=1)
    >>> report = play_match(PolicyAgent("lowest", lowest_legal), "random", num_hanchans=8, seed=1)
    >>> report.candidate, report.hanchans
    ('lowest', 8)
    """

    def __init__(self, name: str, policy: Policy, *, encoder: str = "mini", packed: bool = False) -> None:
        """``encoder`` and ``packed`` as in the environment of the training. ValueError for an unknown encoder.

        A match is the same again if equal observations get equal actions, however many come at a time. Matches in
        several processes send the policy with pickle: use a function or an object of a module, not a lambda.
        """
        self.name = name
        self.layout = decision_layout(find_encoder(encoder).public)
        self._policy, self._encoder, self._is_packed = policy, find_encoder(encoder), packed

    def observe(self, tables: Records, indices: I64) -> tuple[U8, I8]:
        """Return the observations and action masks of the seats that decide at the tables ``indices``, int64 (n,)."""
        own, places = tables[indices], np.arange(len(indices))
        rows = np.empty((len(own), self.layout.observation_bytes), np.uint8)
        masks = np.empty((len(own), NUM_ACTIONS), np.int8)
        encoder, seats = self._encoder, np.full(len(own), EVERY_SEAT, np.int64)
        see_tables(encoder.id, encoder.public.num_planes, load_lookup(), own, places, seats, rows, masks)
        if self._is_packed:
            return rows, masks
        planes = np.empty((len(own), self.layout.num_planes, NUM_COLUMNS), np.uint8)
        fill_planes(rows, places, planes.reshape(len(own), -1))
        return planes, masks

    def act(self, tables: Records, indices: I64) -> I16:
        """Return the action of the policy, int16 (n,), for each of the tables ``indices``.

        ValueError if the policy returns another number of actions, what is no integer, or what is not legal.
        """
        if not len(indices):
            return np.zeros(0, np.int16)
        observations, masks = self.observe(tables, indices)
        name = f"actions of the policy of {self.name}"
        actions = as_integers(self._policy(observations, masks), name, len(indices))
        is_legal = masks[np.arange(len(actions)), np.clip(actions, 0, NUM_ACTIONS - 1)] == 1
        is_legal &= (actions >= 0) & (actions < NUM_ACTIONS)
        if not is_legal.all():
            bad = int(np.flatnonzero(~is_legal)[0])
            legal = ", ".join(action_name(int(action)) for action in np.flatnonzero(masks[bad]))
            raise ValueError(
                f"the policy of {self.name}: {action_name(int(actions[bad]))} is not legal; legal: {legal} (those "
                "whose mask is 1)"
            )
        return actions.astype(np.int16)
