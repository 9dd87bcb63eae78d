"""The reservation of what several learners need, by name, so that nobody keeps it for a run that has ended.

Ray keeps the reservation of an actor that died until the end of the job: its next life, and who ends it, free it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress

import ray
from ray.util.placement_group import PlacementGroup, get_placement_group, placement_group, remove_placement_group

_SAY_SECONDS = 60  # an integer: Ray cuts off the rest
_logger = logging.getLogger(__name__)


def reserve_room(needs: Mapping[str, float], num_learners: int, *, name: str = "") -> PlacementGroup:
    """Wait until Ray has room, and return a reservation of ``needs`` for every learner.

    RLlib's group gives it back when it ends. One that a former life has left under ``name`` is freed first.
    """
    if name:
        free_room(name)
    bundle = {kind: amount for kind, amount in needs.items() if amount}
    room: PlacementGroup = placement_group([bundle] * num_learners, name=name)
    while not room.wait(_SAY_SECONDS):
        _logger.warning(
            "Ray cannot place %d learners of %s each yet: it has %s left; add nodes, or lower num_learners",
            num_learners, bundle, ray.available_resources(),
        )  # fmt: skip
    return room


def free_room(name: str) -> None:
    """Give back what is reserved under ``name``, if there is something; the learners in it end."""
    with suppress(ValueError):  # there is none
        remove_placement_group(get_placement_group(name))
