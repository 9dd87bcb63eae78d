"""Whole games between scripted agents inside one kernel: how fast the rules alone can go, and how strong an agent is.

>>> play = play_scripted(1000, Rules(), ("rule", "random"), seed=7)
>>> (play.winners == 0).mean()  # how often the landlord, a rule agent, wins against random peasants
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suphx.games.doudizhu.cards import ACE, BLACK_JOKER, NUM_RANKS, RED_JOKER, TWO, count_cards, count_rank
from suphx.games.doudizhu.engine import MAX_SEED, deal_game, step
from suphx.games.doudizhu.moves import BOMB, PAIR, ROCKET, SOLO, Moves, list_legal
from suphx.games.doudizhu.names import AGENTS
from suphx.games.doudizhu.table import LANDLORD, LANDLORD_UP, NUM_SEATS, PLAYING, TABLE, Rules, Table
from suphx.kernel.jit import jit, map_on_threads
from suphx.kernel.random_number import mix
from suphx.kernel.record import I8, I32, I64, Records

TURN_COST = 7
_MIDDLE_RANK = 7  # a ten: lower plays are beaten more often than they win a turn
_BOMB_VALUE, _ROCKET_VALUE = 9, 16
_ORDERS = 6


@jit
def hand_value(cards: int, counts: I64) -> int:
    """Return how good packed ``cards`` are, higher is better, 0 for none; ``counts`` (15,) is scratch."""
    best = -(1 << 30)
    for order in range(_ORDERS):
        for rank in range(NUM_RANKS):
            counts[rank] = count_rank(cards, rank)
        best = max(best, _split(counts, order))
    return best if cards else 0


@jit
def _split(counts: I64, order: int) -> int:
    """Return the value of the hand in one way to split it, bombs first; empties ``counts``."""
    value = 0
    if counts[BLACK_JOKER] and counts[RED_JOKER]:
        counts[BLACK_JOKER] = counts[RED_JOKER] = 0
        value += _ROCKET_VALUE - TURN_COST
    for rank in range(TWO + 1):
        if counts[rank] == 4:
            counts[rank] = 0
            value += _BOMB_VALUE + rank // 2 - TURN_COST
    if order % 3 == 0:
        value, trios = _take_trios(counts, value)
        value = _take_chains(counts, order // 3, value)
    elif order % 3 == 1:
        value = _take_chains(counts, order // 3, value)
        value, trios = _take_trios(counts, value)
    else:
        value = _take_runs(counts, 1 + order // 3, value)
        value, trios = _take_trios(counts, value)
        value = _take_chains(counts, 0, value)
    return value + _rest_value(counts, trios)


@jit
def _take_chains(counts: I64, pairs_first: int, value: int) -> int:
    value = _take_runs(counts, 2 if pairs_first else 1, value)
    return _take_runs(counts, 1 if pairs_first else 2, value)


@jit
def _take_runs(counts: I64, size: int, value: int) -> int:
    """Take chains of solos (size 1) or pairs (2), as long as possible each."""
    least = 5 if size == 1 else 3
    first = 0
    while first <= ACE:
        last = first
        while last <= ACE and counts[last] >= size:
            last += 1
        if last - first >= least:
            for rank in range(first, last):
                counts[rank] -= size
            value += max(0, last - 1 - _MIDDLE_RANK) + 1 - TURN_COST
        else:
            first = last + (last == first)
    return value


@jit
def _take_trios(counts: I64, value: int) -> tuple[int, int]:
    """Take all trios, neighbours as one play; return the value and how many there are."""
    trios = 0
    high = -1
    for rank in range(TWO + 1):
        if counts[rank] >= 3:
            is_longer = high == rank - 1 and rank <= ACE and trios > 0
            counts[rank] -= 3
            trios += 1
            high = rank
            value += (rank - _MIDDLE_RANK + 2) if not is_longer else 1
            value -= 0 if is_longer else TURN_COST
    return value, trios


@jit
def _rest_value(counts: I64, trios: int) -> int:
    """Value pairs and solos; each trio takes along the lowest of them."""
    value = 0
    for rank in range(NUM_RANKS):
        if counts[rank] > 0:
            if trios > 0 and rank < TWO:
                trios -= 1
            else:
                value += rank - _MIDDLE_RANK - TURN_COST
            counts[rank] = 0
    return value


_MASK32 = 0xFFFFFFFF


@jit
def choose_index(t: Table, number: int) -> int:
    """Return one of 0 … ``number`` - 1 at random, from the game's seed and the number of its moves alone."""
    bits = mix((int(t.seed) * 0x9E3779B1 + int(t.num_moves) * 0x85EBCA6B) & _MASK32)
    return bits * number >> 32


_WIN = 1 << 20
_NEVER = -(1 << 20)
_BLOCK = 40  # for a high card before an opponent who is nearly out
_FEW_CARDS = 3
_TURN_VALUE = 4  # of winning the turn
_URGENT_TURN_VALUE = 18  # the same when an opponent has few cards
_TEAMMATE_HIGH = 7  # what the teammate plays above this rank is high enough


@jit
def choose_rule(t: Table, m: Moves, legal: I32, first: int, last: int, counts: I64) -> int:
    """Return the index in ``legal``, between ``first`` and ``last`` - 1, of the move that the agent makes.

    ``counts`` (15,) is scratch.
    """
    if last - first == 1:
        return first
    hand = t.hands[t.actor]
    opponent_cards = count_cards(t.hands[LANDLORD])
    if t.actor == LANDLORD:
        opponent_cards = min(count_cards(t.hands[1]), count_cards(t.hands[2]))
    best_index = first
    best_value = _NEVER - 1
    for index in range(first, last):
        move = legal[index]
        value = hand_value(hand - m.cards[move], counts)
        if m.cards[move] == hand:
            value = _WIN
        elif m.cards[move] != 0:
            value += _move_value(t, m, move, opponent_cards)
        if value > best_value:
            best_index = index
            best_value = value
    return best_index


@jit
def _move_value(t: Table, m: Moves, move: int, opponent_cards: int) -> int:
    """Return what a move is worth besides the hand that it leaves; a pass is worth 0."""
    kind = m.kinds[move]
    rank = m.ranks[move]
    is_lead = t.to_beat == len(m.cards) - 1
    if is_lead:
        is_dangerous = (kind == SOLO and opponent_cards == 1) or (kind == PAIR and opponent_cards == 2)
        return _BLOCK * (rank - ACE - 3) if is_dangerous else 0
    owner = (t.actor - 1 - t.num_passes) % NUM_SEATS  # of the move to beat
    if owner != LANDLORD and t.actor != LANDLORD:  # the teammate: only a low card, with one that is not wasted
        is_low = m.ranks[t.to_beat] <= _TEAMMATE_HIGH and kind in (SOLO, PAIR)
        highest = ACE if t.actor == LANDLORD_UP else _TEAMMATE_HIGH + 2
        is_wanted = is_low and rank <= highest and count_cards(t.hands[NUM_SEATS - t.actor]) > _FEW_CARDS
        return 0 if is_wanted else _NEVER
    value = _URGENT_TURN_VALUE if opponent_cards <= _FEW_CARDS else _TURN_VALUE
    if kind == SOLO and opponent_cards == 1:
        value += _BLOCK * rank // 4
    if kind in (BOMB, ROCKET):
        value -= 2
    return value


_RANDOM = AGENTS.index("random")
_GAMES_A_CALL = 64  # games that a thread takes at a time


@dataclass(frozen=True, slots=True)
class ScriptedPlay:
    """What ``play_scripted`` counted, game by game."""

    winners: I8
    """int8 (n,): the seat that played its last card; 0 is the landlord."""
    bombs: I8
    """int8 (n,): bombs and rockets that were played."""
    decisions: I32
    """int32 (n,): moves, passes too."""


def play_scripted(
    num_games: int, rules: Rules, agents: tuple[str, str] = ("random", "random"), *, seed: int = 0, num_threads: int = 1
) -> ScriptedPlay:
    """Play games of the agents (landlord, both peasants), names of AGENTS; game i has the seed seed + i.

    The result does not depend on ``num_threads``. ValueError for an unknown agent, counts below 1 and seeds outside
    0 … 2**62 - 1.
    """
    if num_games < 1 or num_threads < 1:
        raise ValueError(f"{num_games} games on {num_threads} threads: use at least one of each")
    if not 0 <= seed <= MAX_SEED - num_games:
        raise ValueError(f"seed is {seed}: {num_games} games need seeds in 0 … 2**62 - 1")
    landlord, peasants = map(agent_number, agents)
    moves = rules.load_moves()
    winners, bombs = np.zeros(num_games, np.int8), np.zeros(num_games, np.int8)
    decisions = np.zeros(num_games, np.int32)

    def play_part(first: int) -> None:
        part = slice(first, first + _GAMES_A_CALL)
        legal = np.zeros(moves.num_moves, np.int32)
        tables = np.zeros(1, TABLE)
        _play(
            tables, moves, landlord, peasants, seed + first, rules.bidding, legal,
            winners[part], bombs[part], decisions[part],
        )  # fmt: skip

    map_on_threads(play_part, range(0, num_games, _GAMES_A_CALL), num_threads)
    return ScriptedPlay(winners, bombs, decisions)


def agent_number(name: str) -> int:
    """Return the number of a scripted agent for kernels; ValueError for an unknown name."""
    if name not in AGENTS:
        raise ValueError(f"{name!r} is not a scripted agent: use one of {', '.join(AGENTS)}")
    return AGENTS.index(name)


def choose_scripted(tables: Records, moves: Moves, indices: I64, offsets: I64, legal: I32, agent: str) -> I64:
    """Return int64 (n,): for each of the tables ``indices`` the index in ``legal`` of what a scripted agent plays.

    ``offsets``, ``legal``: as ``Simulator.legal`` gives them for the same tables, which all wait.
    """
    chosen = np.zeros(len(indices), np.int64)
    _choose(tables, moves, indices, offsets, legal, agent_number(agent), chosen)
    return chosen


@jit
def _choose(tables: Records, m: Moves, indices: I64, offsets: I64, legal: I32, agent: int, chosen: I64) -> None:
    counts = np.zeros(NUM_RANKS, np.int64)
    for i in range(len(indices)):
        chosen[i] = _choose_one(tables[indices[i]], m, agent, legal, offsets[i], offsets[i + 1], counts)


@jit
def _choose_one(t: Table, m: Moves, agent: int, legal: I32, first: int, last: int, counts: I64) -> int:
    if agent == _RANDOM:
        return first + choose_index(t, last - first)
    return choose_rule(t, m, legal, first, last, counts)


@jit
def _play(
    tables: Records, m: Moves, landlord: int, peasants: int, seed: int, has_bidding: bool, legal: I32,
    winners: I8, bombs: I8, decisions: I32,
) -> None:  # fmt: skip
    """Play one game for each element of ``winners``; ``tables`` (1,) is scratch and must outlive its record."""
    counts = np.zeros(NUM_RANKS, np.int64)
    t = tables[0]
    for i in range(len(winners)):
        deal_game(t, m, seed + i, has_bidding)
        while t.phase == PLAYING:
            end = list_legal(m, t.hands[t.actor], t.to_beat, legal, 0)
            agent = landlord if t.actor == LANDLORD else peasants
            step(t, m, legal[_choose_one(t, m, agent, legal, 0, end, counts)])
        winners[i] = t.winner
        bombs[i] = t.num_bombs
        decisions[i] = t.num_moves
