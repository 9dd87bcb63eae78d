"""Nets of MCR: which nets are asked, samples of recorded games, and exchanged suits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.experience.observation import Observations, PolicyOutputs, Samples
from suphx.games.learning import KindOutputs, LearningConfig
from suphx.games.mahjong.hand_learning import HandLearningTables
from suphx.games.mahjong.suit_exchange import exchange_suits
from suphx.games.mcr.features import ENCODER, LAYOUT
from suphx.games.mcr.learning import LEARNING
from suphx.games.mcr.names import CLAIM_KIND, DECISIONS, DISCARD_KIND
from suphx.games.mcr.record import GameRecord, positions
from suphx.games.mcr.record_text import parse_text, record_text
from suphx.games.mcr.table import CHOW, KONG, OWN_TURN, PASS, PUNG, TABLE, WIN, Rules, move_text
from suphx.games.mcr.tables import ScriptedAgent
from suphx.kernel.record import I64, Records
from suphx.selfplay.rollouts.rollout import play_games
from tests.games.mcr.course import Course


def new_tables(num_tables: int, first_seed: int = 3, encoder: str = ENCODER) -> HandLearningTables:
    config = LearningConfig(num_tables=num_tables, learned=(0, 1))
    return LEARNING.new_learning_tables(config, encoder, first_seed=first_seed)


def state_of(tables: HandLearningTables) -> Records:
    return tables.state()["tables"].reshape(-1).view(TABLE)


def answer(part: Observations, rng: np.random.Generator) -> PolicyOutputs:
    outputs = PolicyOutputs.blank(len(part), 0)
    outputs.actions[:] = (part.masks * rng.random(part.masks.shape)).argmax(axis=1)
    return outputs


def names(part: Observations, row: int) -> set[str]:
    return {DECISIONS[part.decision].outputs[choice] for choice in np.flatnonzero(part.masks[row])}


def has_kongs(table: Any) -> bool:
    return bool(table["phase"] == OWN_TURN and table["legal"][KONG:CHOW].any())


def test_a_turn_with_a_kong_asks_about_it_first_and_then_for_a_discard() -> None:
    rng, tables = np.random.default_rng(1), new_tables(64)
    num_declined = num_games = 0
    while num_declined < 5 or num_games < 50:
        before, observed = state_of(tables), tables.observe()
        outputs = [answer(part, rng) for part in observed]
        declined = []
        for part, output in zip(observed, outputs, strict=True):
            is_claim = np.array([has_kongs(t) > t["kong_declined"] or t["phase"] != OWN_TURN for t in before])
            owners = np.flatnonzero(is_claim == (part.decision == CLAIM_KIND))
            assert len(part) == len(owners)
            for row, index in enumerate(owners.tolist()):
                texts = {move_text(int(move)) for move in np.flatnonzero(before[index]["legal"])}
                discards = {text for text in texts if len(text) == 2}
                if part.decision == DISCARD_KIND:
                    assert names(part, row) == discards
                elif discards:
                    assert names(part, row) == {"pass"} | (texts - discards)
                    declined += [index] * bool(output.actions[row] == 0)
                else:
                    assert {text.split()[0] for text in names(part, row)} == {text.split()[0] for text in texts}
        num_games += tables.step(outputs).num_games
        for index in declined:
            table = state_of(tables)[index]
            assert (table["kong_declined"], table["num_decisions"]) == (1, before[index]["num_decisions"])
            num_declined += 1


def test_encoders_have_the_first_planes_of_one_row() -> None:
    gb184, gb237, plan = (LEARNING.layout(name, CLAIM_KIND) for name in ("gb184", "gb237", "gb265"))
    assert (gb184.num_planes, gb237.num_planes) == (LAYOUT["advice"].first, 264) == (184, 264)
    parts = zip(*(new_tables(50, encoder=layout.name).observe() for layout in (gb184, gb237, plan)), strict=True)
    for of_each in parts:
        for layout, part in zip((gb184, gb237, plan), of_each, strict=True):
            assert part.planes.shape == (len(part), layout.observation_bytes)
            assert (part.planes == of_each[-1].planes[:, : layout.observation_bytes]).all()


class FirstChoices:
    """Answers the first legal choice; counts how often each kind was asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def __call__(self, observations: Observations, indices: I64) -> KindOutputs:
        self.asked.append(observations.decision)
        return observations.masks.argmax(axis=1).astype(np.int16), np.zeros(len(indices), np.float32)


def test_who_declines_a_kong_discards_in_the_same_decision() -> None:
    table = Course({0: "W1111 T123456 B789"}, {0: "F1"}).table
    state, forward = np.array([table], TABLE), FirstChoices()
    before = state.tobytes()
    moves = LEARNING.decide(state, np.zeros(1, np.int64), ENCODER, forward)
    assert [move_text(move) for move in moves] == ["W1"]
    assert forward.asked == [CLAIM_KIND, DISCARD_KIND]
    assert state.tobytes() == before, "who asks what nets would do changes nothing"


@pytest.fixture(scope="module")
def games() -> list[GameRecord]:
    agents, seating = (
        [ScriptedAgent("shanten"), ScriptedAgent("random")],
        np.array([[0, 1, 0, 1]] * 10 + [[1] * 4] * 20),
    )
    return list(play_games(agents, seating, range(30), Rules(minimum_fan=2), game="mcr"))


def samples_of(games: list[GameRecord], folder: Path) -> list[Samples]:
    store = LEARNING.samples.write(games, folder)
    return [LEARNING.samples.encode(store, np.arange(len(games)), kind.number, ENCODER) for kind in DECISIONS]


def expected_labels(tables: Records) -> Iterator[tuple[int, str]]:
    """Yield the kind of each decision of a game and what was chosen."""
    for table, move in zip(tables[:-1], tables[-1]["moves"].tolist(), strict=False):
        if table["legal"].sum() == 1 or table["legal"][WIN]:
            continue
        claimed = DECISIONS[DISCARD_KIND].outputs[table["claimed"]]
        if move < KONG:
            if has_kongs(table):
                yield CLAIM_KIND, "pass"
            yield DISCARD_KIND, move_text(move)
        else:
            yield CLAIM_KIND, {PASS: "pass", PUNG: f"pung {claimed}"}.get(move, move_text(move))


def test_samples_are_the_decisions_of_recorded_games(games: list[GameRecord], tmp_path: Path) -> None:
    found = samples_of(games, tmp_path)
    labels = [label for record in games for label in expected_labels(positions(record))]
    for kind, part in zip(DECISIONS, found, strict=True):
        own = [name for number, name in labels if number == kind.number]
        assert [kind.outputs[label] for label in part.labels.tolist()] == own
        assert part.masks[np.arange(len(own)), part.labels].all()
    assert {name.split()[0] for number, name in labels if number == CLAIM_KIND} == {"pass", "chow", "pung", "kong"}


def test_games_without_the_tiles_that_nobody_drew_give_the_same_samples(
    games: list[GameRecord], tmp_path: Path
) -> None:  # fmt: skip
    full = samples_of(games[:3], tmp_path / "full")
    rules = games[0].rules
    texts = [parse_text(record_text(record), rules=rules) for record in games[:3]]
    assert not any(record.is_wall_known for record in texts)
    for own, other in zip(full, samples_of(texts, tmp_path / "texts"), strict=True):
        assert (own.planes == other.planes).all()
        assert (own.masks == other.masks).all()
        assert (own.labels == other.labels).all()


@pytest.mark.parametrize("order", range(1, 6))
def test_samples_of_a_game_with_exchanged_suits_are_its_samples_exchanged(
    games: list[GameRecord], tmp_path: Path, order: int
) -> None:
    kinds = LEARNING.samples.suit_choices[DISCARD_KIND][order]
    moved = {PUNG: PUNG, WIN: WIN, PASS: PASS}
    moved |= {first + kind: first + int(kinds[kind]) for first in (0, KONG) for kind in range(34)}
    moved |= {CHOW + kind: CHOW + int(kinds[kind]) for kind in range(27)}
    exchanged = [
        replace(game, wall=tuple(kinds[list(game.wall)].tolist()), moves=tuple(moved[move] for move in game.moves))
        for game in games[:3]
    ]
    found, own = samples_of(exchanged, tmp_path / "exchanged"), samples_of(games[:3], tmp_path / "own")
    for kind, other, part in zip(DECISIONS, found, own, strict=True):
        exchange_suits(part, np.full(len(part.labels), order), LEARNING.samples.suit_choices[kind.number])
        assert (part.planes == other.planes).all()
        assert (part.masks == other.masks).all()
        assert (part.labels == other.labels).all()
