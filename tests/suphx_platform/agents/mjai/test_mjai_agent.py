from __future__ import annotations

import re
from functools import partial

import pytest

from suphx import MatchReport, play_match, simulate
from suphx.games.riichi.rules import Rules, tenhou_no_red, tonpuu
from suphx_platform.agents.agent_loading import load_any_agent
from suphx_platform.agents.mjai.mjai_agent import MjaiAgent
from tests.suphx_platform.agents.mjai.bot_program import bot


def match(candidate: str, opponent: str = "ukeire", workers: int = 1) -> MatchReport:
    return play_match(
        candidate,
        opponent,
        num_hanchans=8,
        seed=1,
        rules=tonpuu(),
        workers=workers,
        load=partial(load_any_agent, game="riichi"),
    )


def test_a_program_that_discards_what_it_draws_plays_like_the_scripted_agent() -> None:
    program, scripted = match(bot("tsumogiri")), match("tsumogiri")
    assert repr(program.statistics) == repr(scripted.statistics)
    assert program.difference == scripted.difference


FAILING = {
    "babbler": r"\(seat \d\): its answer is not JSON: b'hello'",
    "thrower": r"its answer .* cannot be played: '\?' is not a tile",
    "broken": "it has ended; it says: RuntimeError: the bot is broken",
    "mute": r"no answer in [\d.]+ s: give it more time",
}


@pytest.mark.parametrize("way", FAILING)
def test_a_program_that_fails_forfeits_its_games_and_the_match_goes_on(
    way: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("suphx_platform.agents.mjai.programs.START_SECONDS", 1.0)
    seconds = "-0.05" if way == "mute" else "-120"  # little time for one that never answers
    report = match(bot(way, seconds))
    assert report.forfeits.counts == {0: 8}
    assert re.search(FAILING[way], report.forfeits.reason_of(0))
    assert "from now on this seat discards what it draws, or wins with it" in caplog.text
    assert report.statistics.placements == (0, 0, 0, 8)
    assert report.statistics.deal_in_rate == match("tsumogiri").statistics.deal_in_rate
    (sentence,) = report.forfeits.sentences(("the candidate", "the opponent"))
    assert sentence.startswith("the candidate could not play 8 games to the end")
    assert report.to_json()["forfeits"] == {"candidate": {"forfeits": 8, "reason": report.forfeits.reason_of(0)}}


def test_a_program_plays_the_same_match_with_two_workers() -> None:
    one, two = match("ukeire", bot("lowest")), match("ukeire", bot("lowest"), workers=2)
    assert not one.forfeits.counts
    assert repr(one) == repr(two)


@pytest.mark.parametrize("rules", [tenhou_no_red(), Rules(kan_dora="none"), Rules(num_winds=3)])
def test_rules_that_mjai_has_no_words_for_are_refused(rules: Rules) -> None:
    agents = [load_any_agent(each, "riichi") for each in (bot("tsumogiri"), *["tsumogiri"] * 3)]
    with pytest.raises(ValueError, match="mjai has no words for others: use tenhou"):
        simulate(agents, rules=rules)


def test_no_program_outlives_its_games_and_one_that_fails_takes_start_time_while_none_has_answered() -> None:
    agents = [load_any_agent(bot("lowest", "-7"), "riichi") for _ in range(2)]
    play_match(
        "lowest", "ukeire", num_hanchans=8, seed=1, rules=tonpuu(),
        load=lambda address: agents[1] if address == "lowest" else load_any_agent(address, "riichi"),
    )  # fmt: skip
    for agent in agents:
        assert isinstance(agent, MjaiAgent)
        assert not agent._programs
        with agent.forfeiting((0, 0)):
            raise ValueError("it has ended")
    assert [agent._start_seconds for agent in agents if isinstance(agent, MjaiAgent)] == [7.0, None]
