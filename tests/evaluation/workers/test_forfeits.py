from __future__ import annotations

import itertools

from suphx.evaluation.workers.forfeits import Forfeits


def test_the_order_in_which_games_end_changes_nothing() -> None:
    lost = [(1, "late"), (0, "gone"), (1, "crashed"), (1, "late")]
    found = []
    for order in itertools.permutations(lost):
        forfeits = Forfeits()
        for agent, reason in order:
            forfeits.note(agent, reason)
        found.append((forfeits.to_json(("a", "b")), forfeits.sentences(("a", "b"))))
    assert all(each == found[0] for each in found)
    counts, (first, second) = found[0]
    assert counts == {"a": {"forfeits": 1, "reason": "gone"}, "b": {"forfeits": 3, "reason": "crashed"}}
    assert first.startswith("a could not play 1 game to the end")
    assert second.endswith("one of the reasons: crashed")
