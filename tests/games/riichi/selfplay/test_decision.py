from __future__ import annotations

import numpy as np
import pytest

from suphx.experience.observation import Observations
from suphx.games.riichi.engine.simulator import Simulator
from suphx.games.riichi.features.encoder import ENCODERS
from suphx.games.riichi.features.head import CHOW_HEAD, DISCARD_HEAD, KONG_HEAD, PONG_HEAD, RIICHI_HEAD
from suphx.games.riichi.selfplay.decision import Forward, HeadOutputs, decide, discard_outputs
from suphx.games.riichi.table.action import (
    ANKAN,
    CHI,
    CHI_RED,
    KAKAN,
    MINKAN,
    NINE_TERMINALS,
    PASS,
    PON,
    RIICHI,
    RON,
    TSUMO,
    TSUMOGIRI,
)
from suphx.games.riichi.table.rules import tenhou
from suphx.kernel.record import I64, Records
from tests.games.riichi.builders.table_builder import Deal
from tests.games.riichi.builders.tile_kind import kind

TENPAI = "123456789m1123p"
FAR = "1478m258p19s1236z"


class Nets:
    """Stands for the five nets: answers what it is told, notes which heads were asked."""

    def __init__(self, yes: dict[int, list[float]] | None = None, discard: str = "") -> None:
        self._yes = yes or {}
        self._discard = discard
        self.asked: list[tuple[int, int]] = []

    def __call__(self, observations: Observations, lines: I64) -> HeadOutputs:
        head, num_rows = observations.head, len(lines)
        self.asked.append((head, num_rows))
        if head == DISCARD_HEAD:
            scores = np.where(observations.masks == 1, 0.0, -np.inf)
            if self._discard:
                scores[:, kind(self._discard)] += 1.0
            return discard_outputs(scores.argmax(axis=1))
        yes = np.array(self._yes.get(head, [0.0] * num_rows), np.float32)
        return (yes > 0.5).astype(np.int16), yes


def decide_all(tables: Records, forward: Forward) -> list[int]:
    actions: list[int] = decide(tables, np.arange(len(tables)), ENCODERS["mini"], forward).tolist()
    return actions


def claim(hand: str, tile: str) -> Deal:
    """Return a deal in which seat 1 is asked for ``tile``, the discard of seat 0."""
    deal = Deal(["", hand, "", ""], draws=tile)
    deal.discard(0, tile)
    assert deal.table["actor"] == 1
    return deal


# --- the own turn


def test_a_win_is_taken_without_asking_a_net() -> None:
    nets = Nets()
    assert decide_all(Deal([TENPAI, "", "", ""], draws="4p").tables, nets) == [TSUMO]
    deal = claim(TENPAI, "4p")
    assert decide_all(deal.tables, nets) == [RON]
    assert nets.asked == []


def test_nine_terminals_are_declared_without_asking_a_net() -> None:
    nets = Nets()
    assert decide_all(Deal(["19m19p19s123z2358m", "", "", ""], draws="5p").tables, nets) == [NINE_TERMINALS]
    assert nets.asked == []


def test_a_single_choice_asks_no_net() -> None:
    deal = Deal([TENPAI, FAR, FAR, FAR.replace("147m", "258m")], draws="7z 6z 5z 5z 9s")
    deal.act(0, RIICHI)
    deal.discard(0, "7z")
    deal.tsumogiri(3)
    nets = Nets()
    assert decide_all(deal.tables, nets) == [TSUMOGIRI]
    assert nets.asked == []


def test_a_wanted_kan_goes_before_riichi_and_discard() -> None:
    deal = Deal(["1111m456789p12s7z", "", "", ""], draws="7z")
    nets = Nets({KONG_HEAD: [0.6], RIICHI_HEAD: [1.0]})
    assert decide_all(deal.tables, nets) == [ANKAN]
    assert nets.asked == [(KONG_HEAD, 1)]


def test_the_most_confident_of_several_kans_is_made() -> None:
    deal = Deal(["1111m2222m258p19s", "", "", ""], draws="5z")
    assert decide_all(deal.tables, Nets({KONG_HEAD: [0.6, 0.7]})) == [ANKAN + 1]
    assert decide_all(deal.tables, Nets({KONG_HEAD: [0.9, 0.7]})) == [ANKAN]


def test_riichi_is_asked_after_an_unwanted_kan_and_goes_before_the_discard() -> None:
    deal = Deal(["1111m456789p12s7z", "", "", ""], draws="7z")
    nets = Nets({KONG_HEAD: [0.5], RIICHI_HEAD: [0.6]})
    assert decide_all(deal.tables, nets) == [RIICHI]
    assert nets.asked[:2] == [(KONG_HEAD, 1), (RIICHI_HEAD, 1)]


def test_the_discard_net_chooses_among_the_legal_kinds() -> None:
    deal = Deal([FAR, "", "", ""], draws="5z")
    nets = Nets(discard="5p")
    assert decide_all(deal.tables, nets) == [kind("5p")]
    assert nets.asked == [(DISCARD_HEAD, 1)]
    assert decide_all(deal.tables, Nets(discard="5z")) == [TSUMOGIRI]


def test_the_discard_of_a_riichi_is_asked_from_the_discard_net() -> None:
    deal = Deal([TENPAI, "", "", ""], draws="7z")
    deal.act(0, RIICHI)
    nets = Nets(discard="1p")
    assert decide_all(deal.tables, nets) == [kind("1p")]
    assert nets.asked == [(DISCARD_HEAD, 1)]


@pytest.mark.parametrize(
    ("hand", "draw", "wanted", "action"),
    [
        ("05p147m258s1234z9m", "7z", "5p", kind("5p")),  # the plain five before the red one
        ("0p147m258s12347z9m", "6z", "5p", 35),
        ("5p147m258s12347z9m", "0p", "5p", kind("5p")),
        ("0p147m258s12347z9m", "5p", "5p", TSUMOGIRI),
        ("5p147m258s12347z9m", "5p", "5p", TSUMOGIRI),
        ("147m258s12347z19m", "0p", "5p", TSUMOGIRI),
    ],
)
def test_plain_tiles_go_before_red_ones_and_the_drawn_tile_before_its_equal(
    hand: str, draw: str, wanted: str, action: int
) -> None:
    deal = Deal([hand, "", "", ""], draws=draw)
    assert decide_all(deal.tables, Nets(discard=wanted)) == [action]


# --- claims


def test_nothing_is_claimed_unless_a_net_says_yes_with_more_than_one_half() -> None:
    deal = claim("33m258p19s12346z1p", "3m")
    assert decide_all(deal.tables, Nets({PONG_HEAD: [0.5]})) == [PASS]
    assert decide_all(deal.tables, Nets({PONG_HEAD: [0.51]})) == [PON]


@pytest.mark.parametrize(("answer", "score", "action"), [(1, 0.5, PON), (1, 0.0, PON), (0, 0.9, PASS)])
def test_the_answer_and_not_its_score_decides_whether_a_claim_is_made(answer: int, score: float, action: int) -> None:
    def forward(observations: Observations, lines: I64) -> HeadOutputs:
        return np.full(len(lines), answer, np.int16), np.full(len(lines), score, np.float32)

    assert decide_all(claim("33m258p19s12346z1p", "3m").tables, forward) == [action]


def test_of_equally_sure_kans_the_first_is_made() -> None:
    deal = Deal(["1111m2222m258p19s", "", "", ""], draws="5z")
    assert decide_all(deal.tables, Nets({KONG_HEAD: [0.7, 0.7]})) == [ANKAN]


def test_the_most_confident_claim_of_all_nets_is_proposed() -> None:
    deal = claim("33324m258p19s123z", "3m")
    assert deal.is_offered(1, MINKAN)
    chi = CHI + 1
    for kong, pong, chow, action in (
        (0.9, 0.8, 0.7, MINKAN),
        (0.6, 0.8, 0.7, PON),
        (0.6, 0.7, 0.8, chi),
        (0.1, 0.2, 0.6, chi),
        (0.6, 0.6, 0.6, MINKAN),  # of equals the first asked
    ):
        nets = Nets({KONG_HEAD: [kong], PONG_HEAD: [pong], CHOW_HEAD: [chow]})
        assert decide_all(deal.tables, nets) == [action]
        assert nets.asked == [(KONG_HEAD, 1), (PONG_HEAD, 1), (CHOW_HEAD, 1)]


def test_of_several_runs_the_most_confident_is_called_with_the_red_five() -> None:
    deal = claim("2405m258p19s123z", "3m")
    assert [position for position in range(3) if deal.is_offered(1, CHI + position)] == [0, 1]
    assert decide_all(deal.tables, Nets({CHOW_HEAD: [0.6, 0.9]})) == [CHI + 1]
    assert decide_all(deal.tables, Nets({CHOW_HEAD: [0.9, 0.6]})) == [CHI_RED]


def test_a_kan_that_cannot_be_won_is_not_robbed() -> None:
    deal = Deal(["44p258m258s1234z9s", TENPAI, FAR, ""], draws="1s 7z 7z 4p 6z 5s 5s 4p")
    deal.discard(0, "1s")
    deal.tsumogiri(2)
    deal.discard(3, "4p")
    deal.act(0, PON)
    deal.act(1, PASS)
    deal.discard(0, "9s")
    deal.discard(1, "6z")
    deal.tsumogiri(2)
    deal.act(0, KAKAN + kind("4p"))
    assert deal.table["actor"] == 1
    assert decide_all(deal.tables, Nets()) == [RON]
    deal.table["kyoku"], deal.table["scores"] = 11, (40_000, 1000, 30_000, 29_000)
    nets = Nets()
    assert decide_all(deal.tables, nets) == [PASS]  # the win rule: it would end the game with us last
    assert nets.asked == []


# --- batches


def test_every_head_is_asked_once_for_all_tables_in_the_order_of_figure_1() -> None:
    tables = np.concatenate(
        [
            claim("33324m258p19s123z", "3m").tables,
            Deal([TENPAI, "", "", ""], draws="7z").tables,
            Deal(["1111m2222m258p19s", "", "", ""], draws="5z").tables,
            Deal([TENPAI, "", "", ""], draws="4p").tables,
            claim("33m258p19s12346z1p", "3m").tables,
        ]
    )
    nets = Nets({KONG_HEAD: [0.1, 0.2, 0.7], PONG_HEAD: [0.2, 0.9], CHOW_HEAD: [0.8], RIICHI_HEAD: [0.2]}, discard="7z")
    assert decide_all(tables, nets) == [CHI + 1, TSUMOGIRI, ANKAN + 1, TSUMO, PON]
    assert nets.asked == [(KONG_HEAD, 3), (PONG_HEAD, 2), (CHOW_HEAD, 1), (RIICHI_HEAD, 1), (DISCARD_HEAD, 1)]


def test_only_the_tables_asked_for_are_decided() -> None:
    tables = np.concatenate([Deal([FAR, "", "", ""], draws="5z").tables for _ in range(3)])
    nets = Nets(discard="5p")
    assert decide(tables, np.array([2]), ENCODERS["mini"], nets).tolist() == [kind("5p")]
    assert nets.asked == [(DISCARD_HEAD, 1)]


def test_whatever_the_nets_say_the_actions_are_legal() -> None:
    rng = np.random.default_rng(0)

    def forward(observations: Observations, lines: I64) -> HeadOutputs:
        if observations.head == DISCARD_HEAD:
            masks = observations.masks
            return discard_outputs(np.where(masks == 1, rng.random(masks.shape), -1).argmax(axis=1))
        scores = rng.random(len(lines)).astype(np.float32)
        return (scores > 0.5).astype(np.int16), scores

    simulator = Simulator(16, tenhou())
    simulator.reset(range(16))
    while (waiting := simulator.waiting()).size:
        simulator.advance(waiting, decide(simulator.tables, waiting, ENCODERS["mini"], forward))
    assert (simulator.placements().sum(axis=1) == 10).all()
