from __future__ import annotations

import pytest

from suphx.evaluation.match import MatchReport, play_match
from suphx.games.riichi.table.rules import tonpuu
from suphx_platform.agents.agent_loading import load_any_agent
from suphx_platform.agents.mjai_agent import MjaiAgent
from tests.suphx_platform.agents.bot_program import bot


def match(candidate: str, baseline: str = "ukeire", workers: int = 1) -> MatchReport:
    return play_match(
        candidate, baseline, num_hanchans=8, seed=1, rules=tonpuu(), workers=workers, load=load_any_agent
    )  # fmt: skip


def test_a_program_that_discards_what_it_draws_plays_like_the_baseline() -> None:
    program, baseline = match(bot("tsumogiri")), match("tsumogiri")
    assert repr(program.statistics) == repr(baseline.statistics)
    assert program.difference == baseline.difference


def test_a_program_may_play_several_seats_and_choose_its_discards() -> None:
    report = match("ukeire", bot("lowest"))
    assert report.baseline_statistics.games == 24
    assert report.difference.mean < 0


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (bot("babbler"), r"\(seat \d\): its answer is not JSON: b'hello'"),
        (bot("thrower"), r"its answer .* cannot be played: '\?' is not a tile"),
        (bot("broken"), "it has ended; it says: RuntimeError: the bot is broken"),
        (bot("mute", "-0.5"), r"no answer in \d+ s: give it more time"),
        ("mjai:no-such-program --fast", "there is no program 'no-such-program': give a command, or its path"),
        ("mjai:", "there is no program ''"),
        (bot("lowest", "-0"), "has 0 s for a move"),
    ],
)
def test_a_program_that_does_not_play_ends_the_match_with_a_clear_error(
    address: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "mute" in address:
        monkeypatch.setattr("suphx_platform.agents.mjai_program.START_SECONDS", 2.0)
    with pytest.raises(ValueError, match=message):
        match(address)


def test_no_program_outlives_its_games() -> None:
    agent = load_any_agent(bot("lowest"))
    assert isinstance(agent, MjaiAgent)
    play_match(
        "lowest", "ukeire", num_hanchans=8, seed=1, rules=tonpuu(),
        load=lambda address: agent if address == "lowest" else load_any_agent(address),
    )  # fmt: skip
    assert not agent._players
