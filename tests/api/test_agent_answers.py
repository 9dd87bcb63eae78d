"""Agents of users whose answers are of any type: the same in games, reviews and environments, and clear errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import suphx
from suphx.environments.riichi_env import RiichiEnv
from suphx.kernel.record import Records


class Answering:
    """Plays as ``tsumogiri`` and gives its actions as ``form`` makes them."""

    name = "answering"

    def __init__(self, form: Callable[[NDArray[np.int16]], Any]) -> None:
        self._form = form
        self._player = suphx.load_agent("tsumogiri")
        self.answers: list[Any] = []

    def act(self, tables: Records, indices: NDArray[np.int64]) -> Any:
        self.answers.append(self._form(self._player.act(tables, indices)))
        return self.answers[-1]


def read_only(actions: NDArray[np.int16]) -> NDArray[np.int16]:
    actions.flags.writeable = False
    return actions


RULES = suphx.Rules(num_winds=1)
PLAYED = suphx.simulate("ukeire", 1, seed=7, rules=RULES)
EXPECTED = suphx.review(PLAYED[0], "tsumogiri")


@pytest.mark.parametrize("form", [list, read_only, np.uint8, np.int64])
def test_integers_of_any_type_are_an_answer(form: Callable[[NDArray[np.int16]], Any]) -> None:
    agent = Answering(form)
    games, expected = (suphx.simulate(player, 2, seed=1, rules=RULES) for player in (agent, "tsumogiri"))
    assert [game.kyokus for game in games] == [game.kyokus for game in expected]
    reviewed = suphx.review(PLAYED[0], agent)
    assert reviewed.equals(EXPECTED)
    assert all((np.asarray(answer) >= 0).all() for answer in agent.answers), "they stay as they are"


@pytest.mark.parametrize(
    ("form", "message"),
    [
        (lambda actions: actions + 0.25, "actions of answering are float64: give integers"),
        (
            lambda actions: int(actions[0]),
            r"actions of answering have the shape \[\]: give a list, one number for each",
        ),
        (lambda actions: actions[:, None], r"actions of answering have the shape \[\d+, 1\]: give a list"),
        (lambda actions: actions.astype(np.int64) + 65536, r"actions of answering: \d+ is not one of 0 to 119"),
        (lambda actions: actions.astype(np.int64) - 200, r"actions of answering: -\d+ is not one of 0 to 119"),
    ],
)
def test_other_answers_are_refused_by_name(form: Callable[[NDArray[np.int16]], Any], message: str) -> None:
    agent = Answering(form)
    with pytest.raises(ValueError, match=message):
        suphx.simulate(agent, 4, seed=1)
    with pytest.raises(ValueError, match=message):
        suphx.review(PLAYED[0], agent)
    env = RiichiEnv(opponents=agent, encoder="mini")
    with pytest.raises(ValueError, match=message):
        _play(env)


def _play(env: RiichiEnv) -> None:
    _, info = env.reset(seed=1)
    is_over = False
    while not is_over:
        _, _, is_over, _, info = env.step(int(info["action_mask"].argmax()))


def test_games_are_equal_if_all_that_they_hold_is() -> None:
    (game,), (again,), (other,) = (suphx.simulate("tsumogiri", 1, seed=seed) for seed in (1, 1, 2))
    assert game == again
    assert game != other
    assert game in [other, again]
    again.kyokus[0].moves[0] += 1
    assert game != again
    assert game.kyokus[0] != "a deal"


@pytest.mark.parametrize(("name", "value"), [("red_fives", ""), ("tenpai_ends_game", False)])
def test_a_match_of_rules_without_words_is_refused_before_it_is_played(tmp_path: Any, name: str, value: Any) -> None:
    rules = suphx.Rules(**{name: value})
    message = f"the match is played with {name} = {value!r}, which its record cannot say: leave out its records"
    with pytest.raises(ValueError, match=message):
        suphx.play_match("tsumogiri", "random", num_hanchans=4000, seed=1, rules=rules, records=tmp_path)
    told = suphx.Rules(num_winds=1, open_tanyao=False, tenpai_ends_game=True)
    suphx.play_match("tsumogiri", "random", num_hanchans=8, seed=1, rules=told, records=tmp_path)
    assert len(suphx.load_games(tmp_path)) == 8
