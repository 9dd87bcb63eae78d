from __future__ import annotations

import numpy as np

from suphx.experience.sampling_uniform import uniform_of


def test_uniforms_are_spread_evenly_and_differ_by_every_argument() -> None:
    uniforms = np.array([uniform_of(2**60 + game, decision, 0) for game in range(50) for decision in range(200)])
    assert abs(uniforms.mean() - 0.5) < 0.01
    assert len(set(uniforms.tolist())) > 9_980
    assert abs(np.corrcoef(uniforms[:-1], uniforms[1:])[0, 1]) < 0.03
    assert (
        len(
            {
                uniform_of(7, 1, 2),
                uniform_of(8, 1, 2),
                uniform_of(7, 2, 2),
                uniform_of(7, 1, 3),
                uniform_of(2**40, 1, 2),
            }
        )
        == 5
    )
