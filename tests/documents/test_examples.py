"""Every script in examples/ runs as its docstring shows, on games that are played here."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from suphx.games.riichi.archive.record_writer import write_records
from suphx.games.riichi.rules import tenhou
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.agents.policy_set import load_policy_set
from suphx.selfplay.rollouts.rollout import play_games
from tests.repository import REPOSITORY

EXAMPLES = REPOSITORY / "examples"


def run(name: str, *arguments: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Run an example in this process and return the lines that it prints."""
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return capsys.readouterr().out.splitlines()


def test_an_agent_makes_one_decision(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    hand, decision = run("one_decision.py", monkeypatch=monkeypatch, capsys=capsys)
    assert hand.startswith("seat 0 has ")
    assert sum(letter.isdigit() for letter in hand.removeprefix("seat 0 has ")) == 14
    assert decision.startswith("ukeire: discard ")


def test_a_match_ends_with_a_verdict(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("ukeire", "tsumogiri", "24")
    verdict, places, _ = run("play_match.py", *arguments, monkeypatch=monkeypatch, capsys=capsys)
    assert "ukeire is better than tsumogiri" in verdict
    assert sum(int(word) for word in places.partition(": ")[2].strip("()").split(",")) == 24


def test_an_own_agent_plays(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (verdict,) = run("own_agent.py", monkeypatch=monkeypatch, capsys=capsys)
    assert "over 40 hanchans" in verdict


def test_a_record_is_encoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    games = play_games([load_agent("ukeire")], np.zeros((1, 4), np.int64), [7], tenhou())
    write_records(games, tmp_path, "mjlog")
    (record,) = tmp_path.iterdir()
    count, hand, _ = run("encode_record.py", str(record), monkeypatch=monkeypatch, capsys=capsys)
    assert "838 planes x 34 tile kinds" in count
    assert int(count.split()[0]) > 100
    assert sum(int(word) for word in hand.partition("[")[2].strip("]").split()) == 14


def test_a_net_is_trained(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    *losses, accuracy = run("train_net.py", "8", "120", monkeypatch=monkeypatch, capsys=capsys)
    first, last = (float(line.rpartition(" ")[2]) for line in (losses[0], losses[-1]))
    assert last < first
    assert float(accuracy.split()[2].strip("%")) > 20, "a random discard is right in about 1 of 10 cases"


def test_ppo_trains_and_is_tested_on_fresh_games(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    threads = torch.get_num_threads()
    first, *_, verdict = run("vector_ppo.py", "0.01", "8", monkeypatch=monkeypatch, capsys=capsys)
    torch.set_num_threads(threads)
    assert first.startswith("iteration 1: 512 steps, entropy ")
    match = re.fullmatch(r"mean place (\S+) \((\S+) to (\S+)\) of 16 games against random players", verdict)
    assert match is not None, verdict
    place, low, high = map(float, match.groups())
    assert low < place < high
    assert 1 <= place <= 4


def test_the_two_agents_play_and_differ_in_the_discard_net_only() -> None:
    folders = [EXAMPLES / "agents" / name for name in ("supervised", "self_play")]
    seating = np.array([[0, 1, 1, 1], [1, 0, 0, 0]])
    games = play_games([load_agent(str(folder)) for folder in folders], seating, [5, 6], tenhou())
    assert [sum(game.final_scores or ()) for game in games] == [100_000, 100_000]
    before, after = (load_policy_set(folder, "suphx", game="riichi").nets for folder in folders)
    same = [
        all(torch.equal(tensor, new.state_dict()[name]) for name, tensor in net.state_dict().items())
        for net, new in zip(before, after, strict=True)
    ]
    assert same == [False, True, True, True, True]
