from __future__ import annotations

import pytest

from suphx.models.calibration import Calibration


@pytest.mark.parametrize("field", ["temperature", "yes_threshold"])
def test_a_calibration_that_makes_no_sense_is_refused(field: str) -> None:
    with pytest.raises(ValueError, match=f"{field} is 0"):
        Calibration(**{field: 0.0})
