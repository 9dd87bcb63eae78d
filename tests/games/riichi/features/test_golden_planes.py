from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.games.riichi.features.golden_planes import FOLDER, POSITIONS, GoldenPosition, describe


@pytest.mark.parametrize("make", POSITIONS, ids=lambda make: str(make.__name__))
def test_the_planes_of_a_named_position_are_those_that_were_reviewed(make: Callable[[], GoldenPosition]) -> None:
    kept = (FOLDER / f"{make.__name__}.txt").read_text(encoding="utf-8")
    assert describe(make) == kept, "the planes changed: review what `make golden` writes"


def test_there_is_a_file_for_each_position_and_no_other() -> None:
    assert sorted(path.stem for path in FOLDER.iterdir()) == sorted(make.__name__ for make in POSITIONS)
    assert len(POSITIONS) >= 20
