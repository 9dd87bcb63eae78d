"""DouZero's nets play as ours do, and its trainer is compared with ours by one command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from douzero.dmc.models import Model

from suphx.games.doudizhu.features import HISTORY_SHAPE, move_columns, num_state_columns
from suphx.games.doudizhu.learning import ENCODER, LEARNING
from suphx.games.doudizhu.selfplay import DouDizhuTables
from suphx.games.doudizhu.table import SEAT_NAMES, Rules
from tests.games.doudizhu.peers.douzero import nets_of_douzero
from tests.games.doudizhu.peers.trainer_comparison import main

RULES = Rules(douzero_kickers=True)


def test_the_nets_of_douzero_give_the_same_values_as_ours() -> None:
    theirs = Model("cpu")
    nets = nets_of_douzero({seat: theirs.get_model(seat).state_dict() for seat in SEAT_NAMES})
    columns, rng = move_columns(RULES.load_moves()), np.random.default_rng(0)
    tables, seats = DouDizhuTables(8, RULES), set()
    tables.begin(np.arange(8), range(8))
    for _ in range(6):
        waiting = tables.waiting()
        for places, seen in LEARNING.observe(tables, waiting, ENCODER):
            assert seen.candidates is not None
            seat, offsets = seen.decision, seen.candidates.offsets
            seats.add(seat)
            rows = np.repeat(np.arange(len(seen)), np.diff(offsets))
            candidates, width = columns[seen.candidates.moves], num_state_columns(seat)
            x = np.hstack([seen.planes[rows, :width], candidates]).astype(np.float32)
            z = seen.planes[rows, width:].reshape(-1, *HISTORY_SHAPE).astype(np.float32)
            with torch.no_grad():
                expected = theirs.forward(SEAT_NAMES[seat], torch.from_numpy(z), torch.from_numpy(x), True)
                values = nets.nets[seat](*map(torch.from_numpy, (seen.planes, candidates, rows)))
            torch.testing.assert_close(values, expected["values"].squeeze(1), rtol=1e-4, atol=1e-6)
            tables.advance(waiting[places], seen.chosen_moves(rng.integers(np.diff(offsets))))
    assert seats == {0, 1, 2}


@pytest.mark.slow
def test_both_trainers_learn_for_the_same_time_and_play_each_other(tmp_path: Path) -> None:
    found = main(["--minutes", "0.5", "--decks", "20", "--folder", str(tmp_path), "--cores", "1"])
    learned = found["moves_learned_from"]
    assert learned.keys() == {"ours", "douzero"}  # its first batch of 3,200 moves may take longer than this
    assert learned["ours"] > 0
    matches = {name: figures for name, figures in found.items() if "_against_" in name}
    assert set(matches) == {
        "ours_against_douzero",
        *(f"{name}_against_{agent}" for name in ("ours", "douzero") for agent in ("random", "rule")),
    }
    for figures in matches.values():
        for figure in figures.values():
            assert figure["interval"][0] <= figure["mean"] <= figure["interval"][1]
    assert (tmp_path / "douzero" / "landlord.pt").is_file()
