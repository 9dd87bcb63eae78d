"""What self-play stores is what the recorded games show: every yes without a mark was done, and no other."""

from __future__ import annotations

from collections import Counter

import numpy as np

from suphx.experience.trajectory import Unrewarded
from suphx.games.head_game import GroupConfig
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.features.head import CHOW_HEAD, DISCARD_HEAD, HEAD_NAMES, KONG_HEAD, PONG_HEAD, RIICHI_HEAD
from suphx.games.riichi.records.log.gamelog import ACTION_BITS, KyokuLog
from suphx.games.riichi.selfplay.table_group import TableGroup
from suphx.games.riichi.table.action import ANKAN, CHI, MINKAN, PASS, PON, PON_RED, RIICHI, TSUMO
from suphx.games.riichi.table.rules import tenhou
from suphx.selfplay.rollouts.rollout import play_games
from tests.selfplay.row_nets import RowAgent, policy_outputs

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
        group = TableGroup(GroupConfig(num_tables=NUM_TABLES, heads=HEADS), MINI, tenhou(), first_seed=FIRST_SEED)
        for _ in range(num_steps):
            ended = group.step([policy_outputs(observations) for observations in group.observe()])
            ends = ended.kyokus
            deals = list(zip(ends.games.tolist(), ends.numbers.tolist(), strict=True))
            self.deals |= set(deals)
            for part in ended.decisions:
                self._count(part, deals)

    def _count(self, part: Unrewarded, deals: list[tuple[int, int]]) -> None:
        decisions = part.with_rewards(np.zeros((len(deals), 4), np.float32))
        for line, (end, seat) in enumerate(zip(part.ends.tolist(), part.seats.tolist(), strict=True)):
            key: Seat = (*deals[end], seat)
            if decisions.is_overruled[line]:
                assert part.head != DISCARD_HEAD
                assert decisions.actions[line] == 1, "a no cannot be overruled"
                self.overruled[key, part.head] += 1
            elif part.head != DISCARD_HEAD and decisions.actions[line] == 1:
                self.yes[key, part.head] += 1


def head_of(action: int) -> int | None:
    """Return the head that proposes ``action``, None for those that are not yes or no."""
    if action == RIICHI:
        return RIICHI_HEAD
    if action in (PON, PON_RED):
        return PONG_HEAD
    if action == MINKAN or ANKAN <= action < TSUMO:
        return KONG_HEAD
    return CHOW_HEAD if CHI <= action < PASS else None


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
