"""What plays the games of a match or tournament: processes of this machine, or workers of Ray if wanted.

>>> with match_workers(8, on_ray=False, say=print) as workers:
...     play_match(MatchSetup("runs/a/supervised", "ukeire", seed=0), 4000, runner=GameRunner(workers=workers))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from suphx.evaluation.game_runner import Workers


@contextmanager
def match_workers(number: int, *, on_ray: bool, say: Callable[[str], None]) -> Iterator[Workers]:
    """Yield ``number`` for processes of this machine, or as many workers of Ray, which end with the block.

    ``say`` gets a line about lost and missing workers. Errors as for ``ray_session``.
    """
    if not on_ray:
        yield number
        return
    from suphx_platform.evaluation.ray_game_workers import ray_game_workers  # imports Ray, which takes seconds

    with ray_game_workers(number, say=say) as workers:
        yield workers
