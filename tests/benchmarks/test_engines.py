"""Other engines get the same hands and games as ours, and their results are read correctly."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from benchmarks import engines
from benchmarks.engines import HAND_PEERS, PeerScore, describe_win
from suphx.games.riichi.benchmark import collect_wins, score_wins
from suphx.json_text import parse_json

NUM_WINS = 60


@pytest.mark.parametrize(
    ("words", "rates"),
    [
        ("simulator --number 2 --peer riichienv", ["hanchans"]),
        ("features --number 100 --peer riichienv", ["decisions"]),
        ("hands --number 40 --peer mahjong riichienv", ["scores", "shanten"]),
        pytest.param("doudizhu --tables 4 --peer douzero rlcard", ["games", "net_decisions"], marks=pytest.mark.slow),
    ],
)
def test_engines_take_turns(
    words: str, rates: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["engines.py", *words.split(), "--seconds", "0"])
    engines.main()
    values = parse_json(capsys.readouterr().out)
    for name in rates:
        per_second = values[name]["per_second"]
        for peer, ratio in values[name]["ratios"].items():
            assert ratio == pytest.approx(per_second["suphx"] / per_second[peer])
    assert not any(values.get("mismatches", {}).values())


@pytest.mark.parametrize("name", HAND_PEERS)
def test_a_wrong_score_is_found_by_every_peer(name: str) -> None:
    tables, scores = collect_wins(NUM_WINS, seed=3), np.zeros((NUM_WINS, 3), np.int32)
    score_wins(tables, scores)
    peer, wins = HAND_PEERS[name](), [describe_win(table) for table in tables]
    theirs = [peer.read_score(result, win) for result, win in zip(peer.prepare_scores(wins)(), wins, strict=True)]
    assert theirs == [PeerScore(*row) for row in scores.tolist()]
    assert theirs != [PeerScore(han + 1, fu, points) for han, fu, points in scores.tolist()]
