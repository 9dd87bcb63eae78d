from __future__ import annotations

import pytest

from tests.games.riichi.features.golden_planes import FOLDER, POSITIONS, describe


@pytest.mark.parametrize("name", POSITIONS)
def test_the_planes_of_a_named_position_are_those_that_were_reviewed(name: str) -> None:
    kept = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert describe(name) == kept, "the planes changed: review what `make golden` writes"


def test_there_is_a_file_for_each_position_and_no_other() -> None:
    assert sorted(path.stem for path in FOLDER.iterdir()) == sorted(POSITIONS)
