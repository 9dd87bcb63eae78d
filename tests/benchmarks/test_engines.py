"""Other engines get the same hands and games as ours, and their results are read correctly."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from rlcard.agents.random_agent import RandomAgent
from rlcard.envs.doudizhu import DoudizhuEnv
from rlcard.games.doudizhu import Game

from benchmarks import engines
from benchmarks.engines import HAND_PEERS, PeerScore, RlCardPeer, describe_win
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


def test_wins_are_described_tile_by_tile() -> None:
    for table in collect_wins(NUM_WINS, seed=11):
        win = describe_win(table)
        tiles = win.concealed + [tile for _, tiles in win.melds for tile in tiles]
        num_kans = sum(len(tiles) == 4 for _, tiles in win.melds)
        assert len(tiles) == len(set(tiles)) == 14 + num_kans
        assert win.win_tile in win.concealed
        assert 1 <= len(win.dora_indicators) <= 5
        seat = table["actor"]
        reds = sum(tile in (16, 52, 88) for tile in tiles)
        is_red_claimed = bool(win.win_tile in (16, 52, 88) and not win.circumstances & 1)
        melded = int(table["meld_red"][seat, : table["num_melds"][seat]].sum())
        assert reds == int(table["red"][seat]).bit_count() + melded + is_red_claimed


def test_rlcard_deals_lists_and_plays_and_does_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> None:
        raise AssertionError("no other implementation encodes or lists probabilities")

    for owner, name in ((DoudizhuEnv, "_extract_state"), (RandomAgent, "eval_step"), (RandomAgent, "step")):
        monkeypatch.setattr(owner, name, refuse)
    games: list[Game] = []
    played: list[str] = []
    step = Game.step

    def noted_step(game: Game, action: str) -> Any:
        games.append(game)
        played.append(action)
        assert action in game.state["actions"]
        return step(game, action)

    monkeypatch.setattr(Game, "step", noted_step)
    play = RlCardPeer().random_games(3)
    assert [play(), play()] == [1, 1]
    assert games[-1].is_over()
    assert games[-1].winner_id in (0, 1, 2)
    assert 20 < len(played) < 500
    assert len(set(played)) > 10
