from __future__ import annotations

import pytest

from suphx.games.riichi.records.view.seat_name import has_namesake, names_in_deal


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (("ukeire",) * 4, ["ukeire (North)", "ukeire (East)", "ukeire (South)", "ukeire (West)"]),
        (("Anna", "net 1", "net 2", "net 3"), ["Anna", "net 1 (East)", "net 2 (South)", "net 3 (West)"]),
        (("A", "B", "C", "D 1"), ["A", "B", "C", "D 1"]),
    ],
)
def test_seats_that_share_a_name_have_their_wind(names: tuple[str, ...], shown: list[str]) -> None:
    assert names_in_deal(names, dealer=1) == shown
    assert [has_namesake(names, seat) for seat in range(4)] == [" (" in name for name in shown]
