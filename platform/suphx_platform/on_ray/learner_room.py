"""The reservation of what several learners need, by name, so that nobody keeps it for a run that has ended.

Ray keeps the reservation of an actor that died until the end of the job: its next life, and who ends it, free it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import ray
from ray.util.placement_group import PlacementGroup, get_placement_group, placement_group, remove_placement_group


def reserve_room(
    needs: Mapping[str, float], num_learners: int, timeout_seconds: float, *, name: str = ""
) -> PlacementGroup:
    """Return a reservation of ``needs`` for every learner; RLlib's group gives it back when it ends.

    One that a former life has left under ``name`` is freed first. Raises TimeoutError if Ray has no room in time.
    """
    if name:
        free_room(name)
    bundle = {kind: amount for kind, amount in needs.items() if amount}
    room: PlacementGroup = placement_group([bundle] * num_learners, name=name)
    if not room.wait(timeout_seconds):
        remove_placement_group(room)
        raise TimeoutError(
            f"Ray cannot place {num_learners} learners of {bundle} each within {timeout_seconds:g} s: it has "
            f"{ray.available_resources()} left; lower num_learners, or add nodes"
        )
    return room


def free_room(name: str) -> None:
    """Give back what is reserved under ``name``, if there is something; the learners in it end."""
    with suppress(ValueError):  # there is none
        remove_placement_group(get_placement_group(name))
