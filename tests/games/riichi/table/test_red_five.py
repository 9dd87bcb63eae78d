from __future__ import annotations

import pytest

from suphx.games.riichi.table.red_five import is_red, num_red, red_bit, red_face, red_kinds
from suphx.games.riichi.table.tile import ALL_RED_FIVES, NUM_FACES, face_name, kind_of_face, parse_faces, parse_kinds


def test_the_three_red_faces_are_red_and_no_others() -> None:
    assert [face_name(face) for face in range(NUM_FACES) if is_red(face)] == ["0m", "0p", "0s"]


@pytest.mark.parametrize("suit", "mps")
def test_a_five_has_a_red_face_with_a_bit_of_its_own(suit: str) -> None:
    (kind,), (face,) = parse_kinds(f"5{suit}"), parse_faces(f"0{suit}")
    assert red_face(kind) == face
    assert kind_of_face(face) == kind
    assert red_bit(face) == 1 << "mps".index(suit)
    assert red_kinds(red_bit(face)) == 1 << kind


@pytest.mark.parametrize("reds", range(ALL_RED_FIVES + 1))
def test_of_a_kind_one_tile_is_red_if_it_is_a_five_whose_red_one_is_held(reds: int) -> None:
    held = [kind for kind in range(34) if num_red(reds, kind)]
    assert held == [kind for suit, kind in enumerate(parse_kinds("5m5p5s")) if reds >> suit & 1]
    assert all(num_red(reds, kind) == 1 for kind in held)
    assert red_kinds(reds) == sum(1 << kind for kind in held)
