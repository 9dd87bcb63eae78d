from __future__ import annotations

import pytest

from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, PON_MELD
from suphx.games.riichi.records.kyoku_builder import Meld, decode_meld, encode_meld
from suphx.games.riichi.table import ANKAN, CHI, CHI_RED, KAKAN, MINKAN, PON, PON_RED
from suphx.games.riichi.tile import parse_kinds


def tile(text: str, copy: int) -> int:
    return parse_kinds(text)[0] * 4 + copy


# type, tiles, called, source, added, action
MELDS = {
    "chi low": (Meld(CHI_MELD, (tile("1m", 0), tile("2m", 1), tile("3m", 3)), tile("1m", 0), 3), CHI),
    "chi middle": (Meld(CHI_MELD, (tile("6p", 2), tile("7p", 1), tile("8p", 0)), tile("7p", 1), 3), CHI + 1),
    "chi high": (Meld(CHI_MELD, (tile("7s", 3), tile("8s", 3), tile("9s", 3)), tile("9s", 3), 3), CHI + 2),
    "chi with own red": (Meld(CHI_MELD, (tile("4p", 2), 52, tile("6p", 1)), tile("4p", 2), 3), CHI_RED),
    "chi of a red": (Meld(CHI_MELD, (tile("4s", 2), 88, tile("6s", 1)), 88, 3), CHI + 1),
    "pon": (Meld(PON_MELD, (tile("5z", 0), tile("5z", 1), tile("5z", 3)), tile("5z", 3), 1), PON),
    "pon with own red": (Meld(PON_MELD, (16, 17, 19), 19, 2), PON_RED),
    "pon of a red": (Meld(PON_MELD, (16, 17, 19), 16, 2), PON),
    "minkan": (Meld(MINKAN_MELD, tuple(range(88, 92)), 90, 1), MINKAN),
    "ankan": (Meld(ANKAN_MELD, tuple(range(132, 136)), -1, 0), ANKAN + 33),
    "kakan": (Meld(KAKAN_MELD, tuple(range(124, 128)), 125, 3, 127), KAKAN + 31),
    "kakan of the red": (Meld(KAKAN_MELD, tuple(range(52, 56)), 55, 2, 52), KAKAN + 13),
}


@pytest.mark.parametrize("name", MELDS)
def test_a_meld_survives_its_code_and_names_its_action(name: str) -> None:
    meld, action = MELDS[name]
    assert decode_meld(encode_meld(meld)) == meld
    assert meld.action() == action


def test_hand_tiles_are_those_that_the_caller_gives() -> None:
    assert MELDS["pon"][0].hand_tiles() == (tile("5z", 0), tile("5z", 1))
    assert MELDS["kakan"][0].hand_tiles() == (127,)
    assert len(MELDS["ankan"][0].hand_tiles()) == 4
    assert len(MELDS["minkan"][0].hand_tiles()) == 3


def test_every_code_is_either_refused_or_its_own_inverse() -> None:
    num_sound = 0
    for code in range(1 << 16):
        try:
            meld = decode_meld(code)
        except ValueError:
            continue
        num_sound += 1
        # Records name any of the four tiles of a closed kan; we write the lowest.
        assert encode_meld(meld) == (code & ~0x300 if meld.type == ANKAN_MELD else code)
    # 21 runs x 64 copies x 3 places; 34 x 3 sources x (4 x 3 pons, as many kakans, 4 open kans); 34 x 4 closed kans
    assert num_sound == 21 * 64 * 3 + 34 * 3 * (12 + 12 + 4) + 34 * 4


@pytest.mark.parametrize(
    ("code", "reason"),
    [(-1, "outside"), (1 << 16, "outside"), (0x20, "nuki"), (0x05, "not a chi"), (0x08, "not a pon")],
)
def test_an_impossible_code_is_refused_with_the_reason(code: int, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        decode_meld(code)
