from __future__ import annotations

from suphx_pipelines.charts.pairing_chart import pairing_chart


def test_cells_say_who_came_before_whom() -> None:
    picture = pairing_chart(
        [[0, 3, 0], [1, 0, 0], [0, 0, 0]], ["strong", "an agent with a very long name", "new"], "label"
    )
    assert "<title>strong before an agent with a very long name in 3 of 4 games</title>" in picture
    assert picture.count("<rect") == 2, "no cell without common games"
    assert ">75</text>" in picture
    assert ">25</text>" in picture
    assert "an agent with a very…" in picture


def test_one_agent_has_no_pairings() -> None:
    assert pairing_chart([[0]], ["alone"], "label") == ""
