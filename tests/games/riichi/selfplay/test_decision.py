from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from suphx.experience.observation import Observations
from suphx.experience.trajectory import Unrewarded
from suphx.games.learning import LearningConfig
from suphx.games.riichi import table as codes
from suphx.games.riichi.features.encoder import ENCODERS, find_encoder
from suphx.games.riichi.names import CHOW_HEAD, DISCARD_HEAD, HEAD_NAMES, KONG_HEAD, PONG_HEAD, RIICHI_HEAD
from suphx.games.riichi.records.game_log import ACTION_BITS, KyokuLog
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.selfplay.decision import Forward, HeadOutputs, decide, discard_outputs, mask_seeds
from suphx.games.riichi.selfplay.table_group import TableGroup
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import TABLE
from suphx.kernel.random_number import observation_number, uniform_of
from suphx.kernel.record import I64, Records
from suphx.selfplay.rollouts.rollout import play_games
from tests.games.riichi.builders.hands import kind
from tests.games.riichi.builders.table_builder import Deal
from tests.selfplay.row_nets import RowAgent, policy_outputs


def test_every_observation_of_a_decision_has_a_mask_and_a_uniform_of_its_own() -> None:
    tables = np.zeros(1, TABLE)
    tables["wall_seed"] = 9
    candidates = np.arange(-1, codes.NUM_ACTIONS)
    numbers: set[float] = set()
    for head in range(len(HEAD_NAMES)):
        seeds = mask_seeds(tables, np.zeros(len(candidates), np.int64), candidates, head)
        numbers |= set((seeds / 2**24).tolist())
        numbers |= {uniform_of(9, 1, observation_number(head, int(candidate))) for candidate in candidates}
    assert len(numbers) == 2 * len(HEAD_NAMES) * len(candidates)


MINI = find_encoder("mini")
HEADS = tuple(range(len(HEAD_NAMES)))
FIRST_SEED, NUM_TABLES = 200, 6

Seat = tuple[int, int, int]
"""Game, deal of the game, seat."""


class Stored:
    """What the learning seats decided in deals that ended."""

    def __init__(self) -> None:
        self.yes: Counter[tuple[Seat, int]] = Counter()
        """By seat and head, without those that were overruled."""
        self.overruled: Counter[tuple[Seat, int]] = Counter()
        self.deals: set[tuple[int, int]] = set()

    def play(self, num_steps: int) -> None:
        group = TableGroup(LearningConfig(num_tables=NUM_TABLES, learned=HEADS), MINI, tenhou(), first_seed=FIRST_SEED)
        for _ in range(num_steps):
            ended = group.step([policy_outputs(observations) for observations in group.observe()])
            ends = ended.ends
            deals = list(zip(ends.games.tolist(), ends.numbers.tolist(), strict=True))
            self.deals |= set(deals)
            for part in ended.decisions:
                self._count(part, deals)

    def _count(self, part: Unrewarded, deals: list[tuple[int, int]]) -> None:
        decisions = part.with_rewards(np.zeros((len(deals), 4), np.float32))
        for line, (end, seat) in enumerate(zip(part.ends.tolist(), part.seats.tolist(), strict=True)):
            key: Seat = (*deals[end], seat)
            if decisions.is_overruled[line]:
                assert part.decision != DISCARD_HEAD
                assert decisions.actions[line] == 1, "a no cannot be overruled"
                self.overruled[key, part.decision] += 1
            elif part.decision != DISCARD_HEAD and decisions.actions[line] == 1:
                self.yes[key, part.decision] += 1


def head_of(action: int) -> int | None:
    """Return the head that proposes ``action``, None for those that are not yes or no."""
    if action == codes.RIICHI:
        return RIICHI_HEAD
    if action in (codes.PON, codes.PON_RED):
        return PONG_HEAD
    if action == codes.MINKAN or codes.ANKAN <= action < codes.TSUMO:
        return KONG_HEAD
    return CHOW_HEAD if codes.CHI <= action < codes.PASS else None


def done(log: KyokuLog, game: int, number: int) -> Counter[tuple[Seat, int]]:
    """Return what the record of a deal shows: how often each seat did what each head proposes."""
    counts: Counter[tuple[Seat, int]] = Counter()
    for move in log.moves.tolist():
        head = head_of(move & (1 << ACTION_BITS) - 1)
        if head is not None:
            counts[(game, number, move >> ACTION_BITS), head] += 1
    return counts


def test_every_stored_yes_without_a_mark_was_done_and_no_other() -> None:
    stored = Stored()
    stored.play(1500)
    games = sorted({game for game, _ in stored.deals})
    logs = play_games([RowAgent(MINI)], np.zeros((len(games), 4), np.int64), games, tenhou())
    shown: Counter[tuple[Seat, int]] = Counter()
    for game, log in zip(games, logs, strict=True):
        for number, kyoku in enumerate(log.kyokus):
            if (game, number) in stored.deals:
                shown += done(kyoku, game, number)
    assert stored.yes == shown
    counts = Counter(head for _, head in shown.elements())
    assert min(counts[head] for head in (CHOW_HEAD, PONG_HEAD, KONG_HEAD)) > 5, counts
    assert counts[RIICHI_HEAD], counts
    overruled = Counter(head for _, head in stored.overruled.elements())
    assert overruled[CHOW_HEAD] > 5, overruled
    assert overruled[PONG_HEAD], overruled


TENPAI = "123456789m1123p"
FAR = "1478m258p19s1236z"


class Nets:
    """Stands for the five nets: answers what it is told, notes which heads were asked."""

    def __init__(self, yes: dict[int, list[float]] | None = None, discard: str = "") -> None:
        self._yes = yes or {}
        self._discard = discard
        self.asked: list[tuple[int, int]] = []

    def __call__(self, observations: Observations, lines: I64) -> HeadOutputs:
        head, num_rows = observations.decision, len(lines)
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


def test_what_the_rules_decide_asks_no_net() -> None:
    forced = Deal([TENPAI, FAR, FAR, FAR.replace("147m", "258m")], draws="7z 6z 5z 5z 9s")
    forced.play("0 riichi, 0 7z, tsumogiri 3")
    nets = Nets()
    for tables, action in (
        (Deal([TENPAI, "", "", ""], draws="4p").tables, codes.TSUMO),
        (claim(TENPAI, "4p").tables, codes.RON),
        (Deal(["19m19p19s123z2358m", "", "", ""], draws="5p").tables, codes.NINE_TERMINALS),
        (forced.tables, codes.TSUMOGIRI),
    ):
        assert decide_all(tables, nets) == [action]
    assert nets.asked == []


@pytest.mark.parametrize(
    ("yes", "action"), [([0.6, 0.7], codes.ANKAN + 1), ([0.9, 0.7], codes.ANKAN), ([0.7, 0.7], codes.ANKAN)]
)
def test_the_most_confident_of_several_kans_is_made(yes: list[float], action: int) -> None:
    deal = Deal(["1111m2222m258p19s", "", "", ""], draws="5z")
    assert decide_all(deal.tables, Nets({KONG_HEAD: yes})) == [action]


KAN_TENPAI = "1111m456789p12s7z"


@pytest.mark.parametrize(
    ("hand", "draw", "yes", "action", "asked"),
    [
        (KAN_TENPAI, "7z", {KONG_HEAD: [0.6], RIICHI_HEAD: [1.0]}, codes.ANKAN, [KONG_HEAD]),
        (KAN_TENPAI, "7z", {KONG_HEAD: [0.5], RIICHI_HEAD: [0.6]}, codes.RIICHI, [KONG_HEAD, RIICHI_HEAD]),
        (FAR, "5z", {}, kind("5p"), [DISCARD_HEAD]),
    ],
)
def test_a_wanted_kan_goes_before_riichi_and_riichi_before_the_discard(
    hand: str, draw: str, yes: dict[int, list[float]], action: int, asked: list[int]
) -> None:
    nets = Nets(yes, discard="5p")
    assert decide_all(Deal([hand, "", "", ""], draws=draw).tables, nets) == [action]
    assert nets.asked == [(head, 1) for head in asked]


def test_the_discard_net_is_asked_for_the_drawn_tile_and_for_the_discard_of_a_riichi() -> None:
    assert decide_all(Deal([FAR, "", "", ""], draws="5z").tables, Nets(discard="5z")) == [codes.TSUMOGIRI]
    deal = Deal([TENPAI, "", "", ""], draws="7z")
    deal.act(0, codes.RIICHI)
    nets = Nets(discard="1p")
    assert decide_all(deal.tables, nets) == [kind("1p")]
    assert nets.asked == [(DISCARD_HEAD, 1)]


@pytest.mark.parametrize(
    ("hand", "draw", "wanted", "action"),
    [
        ("05p147m258s1234z9m", "7z", "5p", kind("5p")),  # the plain five before the red one
        ("0p147m258s12347z9m", "6z", "5p", 35),
        ("5p147m258s12347z9m", "0p", "5p", kind("5p")),
        ("0p147m258s12347z9m", "5p", "5p", codes.TSUMOGIRI),
        ("5p147m258s12347z9m", "5p", "5p", codes.TSUMOGIRI),
        ("147m258s12347z19m", "0p", "5p", codes.TSUMOGIRI),
    ],
)
def test_plain_tiles_go_before_red_ones_and_the_drawn_tile_before_its_equal(
    hand: str, draw: str, wanted: str, action: int
) -> None:
    deal = Deal([hand, "", "", ""], draws=draw)
    assert decide_all(deal.tables, Nets(discard=wanted)) == [action]


# --- claims


@pytest.mark.parametrize(
    ("answer", "score", "action"), [(1, 0.5, codes.PON), (1, 0.0, codes.PON), (0, 0.9, codes.PASS)]
)
def test_the_answer_and_not_its_score_decides_whether_a_claim_is_made(answer: int, score: float, action: int) -> None:
    def forward(observations: Observations, lines: I64) -> HeadOutputs:
        return np.full(len(lines), answer, np.int16), np.full(len(lines), score, np.float32)

    assert decide_all(claim("33m258p19s12346z1p", "3m").tables, forward) == [action]


def test_the_most_confident_claim_of_all_nets_is_proposed() -> None:
    deal = claim("33324m258p19s123z", "3m")
    assert deal.is_offered(1, codes.MINKAN)
    chi = codes.CHI + 1
    for kong, pong, chow, action in (
        (0.9, 0.8, 0.7, codes.MINKAN),
        (0.6, 0.8, 0.7, codes.PON),
        (0.6, 0.7, 0.8, chi),
        (0.1, 0.2, 0.6, chi),
        (0.6, 0.6, 0.6, codes.MINKAN),  # of equals the first asked
    ):
        nets = Nets({KONG_HEAD: [kong], PONG_HEAD: [pong], CHOW_HEAD: [chow]})
        assert decide_all(deal.tables, nets) == [action]
        assert nets.asked == [(KONG_HEAD, 1), (PONG_HEAD, 1), (CHOW_HEAD, 1)]


def test_of_several_runs_the_most_confident_is_called_with_the_red_five() -> None:
    deal = claim("2405m258p19s123z", "3m")
    assert [position for position in range(3) if deal.is_offered(1, codes.CHI + position)] == [0, 1]
    assert decide_all(deal.tables, Nets({CHOW_HEAD: [0.6, 0.9]})) == [codes.CHI + 1]
    assert decide_all(deal.tables, Nets({CHOW_HEAD: [0.9, 0.6]})) == [codes.CHI_RED]


def test_a_kan_that_cannot_be_won_is_not_robbed() -> None:
    deal = Deal(["44p258m258s1234z9s", TENPAI, FAR, ""], draws="1s 7z 7z 4p 6z 5s 5s 4p")
    deal.play("0 1s, tsumogiri 2, 3 4p, 0 pon, 1 pass, 0 9s, 1 6z, tsumogiri 2, 0 kakan 4p")
    assert deal.table["actor"] == 1
    assert decide_all(deal.tables, Nets()) == [codes.RON]
    deal.table["kyoku"], deal.table["scores"] = 11, (40_000, 1000, 30_000, 29_000)
    nets = Nets()
    assert decide_all(deal.tables, nets) == [codes.PASS]  # the win rule: it would end the game with us last
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
    assert decide_all(tables, nets) == [codes.CHI + 1, codes.TSUMOGIRI, codes.ANKAN + 1, codes.TSUMO, codes.PON]
    assert nets.asked == [(KONG_HEAD, 3), (PONG_HEAD, 2), (CHOW_HEAD, 1), (RIICHI_HEAD, 1), (DISCARD_HEAD, 1)]


def test_whatever_the_nets_say_the_actions_are_legal() -> None:
    rng = np.random.default_rng(0)

    def forward(observations: Observations, lines: I64) -> HeadOutputs:
        if observations.decision == DISCARD_HEAD:
            masks = observations.masks
            return discard_outputs(np.where(masks == 1, rng.random(masks.shape), -1).argmax(axis=1))
        scores = rng.random(len(lines)).astype(np.float32)
        return (scores > 0.5).astype(np.int16), scores

    simulator = Simulator(16, tenhou())
    simulator.reset(range(16))
    while (waiting := simulator.waiting()).size:
        simulator.advance(waiting, decide(simulator.tables, waiting, ENCODERS["mini"], forward))
    assert (simulator.placements().sum(axis=1) == 10).all()
