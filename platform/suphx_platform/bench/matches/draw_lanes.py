"""How many hanchans a match needs for the same standard error, with draw lanes and without."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from suphx.evaluation.match import play_match
from suphx.evaluation.match_config import SEATS
from suphx_platform.agents.agent_loading import load_any_agent


def bench_evaluation(
    pairs: Sequence[tuple[str, str]],
    *,
    num_hanchans: int,
    seed: int,
    workers: int,
    progress: Callable[[float, str], None] = lambda hanchans, match: None,
) -> dict[str, Any]:
    """Play each pair (candidate, baseline) twice on the same walls and return the variances of a hanchan.

    ``pairs`` [{candidate, baseline, variance, variance_without_lanes, ratio}]: four times the variance of the
    candidate's average placement over the four games of a wall; ``ratio`` is how many times fewer hanchans draw lanes
    need. 1.25 would be the variance of independent games of equal players. ValueError for an unknown agent or a wrong
    number.
    """
    rows = []
    for candidate, baseline in pairs:
        variances = []
        for has_draw_lanes in (True, False):
            name = f"{candidate} against {baseline}, {'with' if has_draw_lanes else 'without'} draw lanes"
            report = play_match(
                candidate,
                baseline,
                num_hanchans=num_hanchans,
                seed=seed,
                workers=workers,
                has_draw_lanes=has_draw_lanes,
                load=load_any_agent,
                progress=partial(_tell, progress, name),
            )
            walls = np.array(report.placements).reshape(-1, SEATS).mean(axis=1)
            variances.append(SEATS * float(walls.var(ddof=1)))
        variance, without = variances
        rows.append(
            {
                "candidate": candidate,
                "baseline": baseline,
                "variance": variance,
                "variance_without_lanes": without,
                "ratio": without / variance if variance else None,
            }
        )
    return {"hanchans": num_hanchans, "seed": seed, "pairs": rows}


def _tell(progress: Callable[[float, str], None], match: str, hanchans: float) -> None:
    progress(hanchans, match)
