from __future__ import annotations

import pytest

from suphx.selfplay.layout import BESIDE, MAX_BUFFERS, PLACE
from suphx_platform.ray.session import ray_session

pytestmark = [pytest.mark.ray, pytest.mark.slow]


def test_a_learner_fits_on_a_node_with_the_largest_number_of_buffers() -> None:
    """The resources of all actors that may be on one node for a learner, as Ray counts them."""
    from ray.util.placement_group import placement_group

    beside = MAX_BUFFERS + len(["parameter server", "driver of several learners"])
    with ray_session(num_cpus=1, resources={"learner": 1}):
        actors = [{"learner": PLACE}, *({"learner": BESIDE} for _ in range(beside))]
        assert placement_group(actors).wait(60)
