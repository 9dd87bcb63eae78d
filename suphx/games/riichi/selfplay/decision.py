"""The decision flow of the paper's Figure 1, over a batch of tables that wait for their actors.

Own turn: win rule, kong net for every possible kan, riichi net, discard net. Another seat's discard: win rule, then
the kong, pong and chow nets judge every possible claim; of those that they want the surest one is proposed.

This is the only implementation. ``rule_action`` decides what needs no net, ``observe_head`` makes the observations of a
head, and ``apply_outputs`` turns its outputs into actions; heads are applied in the order of ``HEAD_ORDER``. Agents and
adaptation ask a head only where the heads before it left the table undecided, or in a claim window, in which a later
head may want a claim more (``decide``). Self-play asks all heads at
once, one message a decision, and applies the outputs in the same order (table_group.py).

``play_to_end`` plays deals to their end with nets at all seats, many side by side. ``move_probabilities`` asks all
heads, whatever the order of Figure 1 would leave out: a discard has the discard net's probability of its kind; a
riichi, kan or claim the probability of yes of its net. The discards of a table add up to 1, the others are separate
questions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from suphx.experience.observation import F32, LATEST, Observations
from suphx.games.mahjong.shanten import Suits, load_suits
from suphx.games.riichi import table as codes
from suphx.games.riichi.bots import should_win
from suphx.games.riichi.features.encoder import Encoder, encode_rows
from suphx.games.riichi.features.oracle import with_oracle
from suphx.games.riichi.features.samples import fill_discard_mask, list_candidates
from suphx.games.riichi.kyoku import step
from suphx.games.riichi.names import CHOW_HEAD, DECISIONS, DISCARD_HEAD, KONG_HEAD, PONG_HEAD, RIICHI_HEAD
from suphx.games.riichi.table import Table
from suphx.games.riichi.tile import is_red, kind_of_face, red_face
from suphx.kernel.jit import jit
from suphx.kernel.random_number import NUM_UNIFORMS, observation_number, uniform_of
from suphx.kernel.record import I16, I64, U8, Records

_MASKS = 128  # more than any candidate's number, so that a mask and an action never share a number


@jit
def fill_uniforms(tables: Records, indices: I64, candidates: I64, head: int, uniforms: F32) -> None:
    """Fill ``uniforms`` float32 [n]: the quantile of the sampled action for each observation of ``head``."""
    for q in range(len(indices)):
        t = tables[indices[q]]
        uniforms[q] = uniform_of(t.wall_seed, 1 + t.num_decisions, observation_number(head, candidates[q]))


def mask_seeds(tables: Records, indices: I64, candidates: I64, head: int) -> I64:
    """Return int64 [n]: the seeds of the keep-masks (features/oracle.py) of observations for ``head``."""
    uniforms = np.zeros(len(indices), np.float32)
    fill_uniforms(tables, indices, candidates + _MASKS, head, uniforms)
    return (uniforms * NUM_UNIFORMS).astype(np.int64)


HEAD_ORDER = (KONG_HEAD, PONG_HEAD, CHOW_HEAD, RIICHI_HEAD, DISCARD_HEAD)
"""Figure 1: which head's outputs count first. Of claims and kans that are wanted equally the first one is made."""
UNDECIDED = -1
NO_KEEP_PROBABILITIES: Mapping[int, float] = MappingProxyType({})
_MAX_CANDIDATES = 40
BOOL = NDArray[np.bool_]

HeadOutputs = tuple[I16, F32]
"""Actions int16 [n] and scores float32 [n], as in ``PolicyOutputs`` (experience/observation.py)."""

Forward = Callable[[Observations, I64], HeadOutputs]
"""(observations of one head, int64 [n]: which of the tables each is of) -> the outputs of the head."""


@dataclass(frozen=True, slots=True)
class HeadObservations:
    """The observations of one head at a batch of tables."""

    observations: Observations
    owners: I64
    """int64 [n]: position in ``indices`` of the table of each row."""
    candidates: I64
    """int64 [n]: the claim or kan that the row is about, or NO_CANDIDATE."""


def decide(
    tables: Records,
    indices: I64,
    encoder: Encoder,
    forward: Forward,
    keep_probabilities: Mapping[int, float] = NO_KEEP_PROBABILITIES,
) -> I16:
    """Return one legal action, int16 (n,), for the actor of each of the tables ``indices``.

    ``forward`` computes the outputs of a net, once for each head that has observations. ``keep_probabilities``: heads
    whose rows have oracle planes (features/oracle.py), with the keep probability of the masks in these.
    """
    actions, surest = np.full(indices.shape, UNDECIDED, np.int16), np.zeros(indices.shape, np.float32)
    apply_forced_actions(tables, indices, actions)
    for head in HEAD_ORDER:
        asked = observe_head(tables, indices, actions, encoder, head, keep_probability=keep_probabilities.get(head))
        if asked.owners.size:
            outputs = forward(asked.observations, indices[asked.owners])
            apply_outputs(tables, indices, head, asked.owners, asked.candidates, *outputs, surest, actions)
    pass_claims(tables, indices, actions)
    return actions


def discard_outputs(kinds: I64) -> HeadOutputs:
    """Return outputs of the discard net that choose ``kinds`` int64 [n]."""
    return kinds.astype(np.int16), np.zeros(len(kinds), np.float32)


@jit
def apply_outputs(
    tables: Records, indices: I64, head: int, owners: I64, candidates: I64, choices: I16, scores: F32, surest: F32,
    actions: I16,
) -> BOOL:  # fmt: skip
    """Put the outputs of ``head`` into ``actions``; return bool [n]: which rows count in Figure 1's order.

    A row of the riichi or discard head does not count if an earlier head decided its table. Only the choice 1 is a yes.
    ``surest`` float32 (n,), 0 at first: the score of the claim or kan that is proposed so far.
    """
    counts = np.ones(len(owners), np.bool_)
    for q in range(len(owners)):
        i = owners[q]
        if head in (KONG_HEAD, PONG_HEAD, CHOW_HEAD):
            if choices[q] == 1 and (actions[i] == UNDECIDED or scores[q] > surest[i]):
                actions[i] = candidates[q]
                surest[i] = scores[q]
        elif actions[i] != UNDECIDED:
            counts[q] = False
        elif head == DISCARD_HEAD:
            actions[i] = discard_action(tables[indices[i]], choices[q])
        elif choices[q] == 1:
            actions[i] = codes.RIICHI
    return counts


def pass_claims(tables: Records, indices: I64, actions: I16) -> None:
    """Pass where no net wants the claim."""
    actions[(actions == UNDECIDED) & (tables["phase"][indices] == codes.CLAIM)] = codes.PASS


@jit
def play_to_observation(tables: Records, suits: Suits, indices: I64, actions: I16) -> I16:
    """Apply the actions that are decided; go on as far as the rules decide, or to the end of the deal.

    Return int16 [n, 4]: by seat the claim that was overruled when a claim window closed on the way, else UNDECIDED.
    """
    overruled = np.full((len(indices), 4), UNDECIDED, np.int16)
    for i in range(len(indices)):
        t = tables[indices[i]]
        action = int(actions[i])
        while t.phase != codes.KYOKU_END:
            if action == UNDECIDED:
                action = rule_action(t)
            if action == UNDECIDED:
                break
            was_window = t.phase == codes.CLAIM
            step(t, suits, action)
            if was_window and t.phase != codes.CLAIM:
                for seat in range(4):
                    is_carried_out = t.phase != codes.KYOKU_END and seat == t.turn
                    if codes.PON <= t.claim_actions[seat] < codes.PASS and not is_carried_out:
                        overruled[i, seat] = t.claim_actions[seat]
            action = UNDECIDED
    return overruled


@jit
def claim_head(action: int) -> int:
    """Return the head that proposes the claim ``action``."""
    if action == codes.MINKAN:
        return KONG_HEAD
    return PONG_HEAD if action <= codes.PON_RED else CHOW_HEAD


@jit
def apply_forced_actions(tables: Records, indices: I64, actions: I16) -> None:
    """Decide what needs no net: wins, nine terminals, robbing a kan, and where there is one choice."""
    for i in range(len(indices)):
        actions[i] = rule_action(tables[indices[i]])


@jit
def rule_action(t: Table) -> int:
    """Return the action that needs no net, or UNDECIDED."""
    if (t.legal[codes.TSUMO] or t.legal[codes.RON]) and should_win(t):
        return codes.TSUMO if t.legal[codes.TSUMO] else codes.RON
    if t.phase == codes.ROB_KAN:
        return codes.PASS
    if t.legal[codes.NINE_TERMINALS]:
        return codes.NINE_TERMINALS
    if t.phase == codes.CLAIM:
        return codes.PASS if t.num_legal == 1 + t.legal[codes.RON] else UNDECIDED
    if t.num_legal == 1:
        return int(t.legal.argmax())
    return UNDECIDED


def observe_head(
    tables: Records, indices: I64, actions: I16, encoder: Encoder, head: int, *, keep_probability: float | None = None
) -> HeadObservations:
    """Return the observations of ``head`` at those of the tables ``indices`` that ``actions`` leave undecided.

    ``keep_probability``: rows have oracle planes, with masks of this probability (features/oracle.py).
    Policies are LATEST.
    """
    owners, candidates = asked_rows(tables, indices, actions, head)
    count = len(owners)
    masks, uniforms = np.zeros((count, DECISIONS[head].num_choices), np.uint8), np.zeros(count, np.float32)
    rows = encode_rows(encoder, head, tables, indices[owners], candidates)
    if count:
        if head == DISCARD_HEAD:
            _fill_masks(tables, indices[owners], masks)
        fill_uniforms(tables, indices[owners], candidates, head, uniforms)
    if keep_probability is not None:
        seeds = mask_seeds(tables, indices[owners], candidates, head)
        rows = with_oracle(rows, tables, indices[owners], seeds, keep_probability=keep_probability)
    policies = np.full(count, LATEST, np.int32)
    return HeadObservations(Observations(head, rows, masks, policies, uniforms), owners, candidates)


def asked_rows(tables: Records, indices: I64, actions: I16, head: int) -> tuple[I64, I64]:
    """Return ``owners`` and ``candidates`` (``HeadObservations``) of all rows that ``head`` is asked.

    Those are of the tables ``indices`` that ``actions`` leave undecided.
    """
    count = _list_observations(tables, indices, actions, head, _NONE, _NONE)
    owners, candidates = np.zeros(count, np.int64), np.zeros(count, np.int64)
    if count:
        _list_observations(tables, indices, actions, head, owners, candidates)
    return owners, candidates


_NONE = np.zeros(0, np.int64)


@jit
def _list_observations(
    tables: Records, indices: I64, actions: I16, head: int, owners: I64, candidates: I64
) -> int:  # fmt: skip
    """Return how many rows ``head`` is asked for undecided tables; fill ``owners`` and ``candidates`` unless empty."""
    own = np.zeros(_MAX_CANDIDATES, np.int64)
    n = 0
    for i in range(len(indices)):
        t = tables[indices[i]]
        if actions[i] != UNDECIDED and not (
            t.phase == codes.CLAIM and actions[i] != codes.RON and actions[i] != codes.PASS
        ):
            continue
        for c in range(list_candidates(t, head, own)):
            if len(owners) > 0:
                owners[n] = i
                candidates[n] = own[c]
            n += 1
    return n


@jit
def _fill_masks(tables: Records, lines: I64, masks: U8) -> None:
    """Fill uint8 [n, 34] with the kinds that the actors of the tables ``lines`` may discard."""
    for q in range(len(lines)):
        fill_discard_mask(tables[lines[q]], masks[q])


@jit
def discard_action(t: Table, kind: int) -> int:
    """Return the action that discards ``kind``: the plain five before the red one, the drawn tile before its equal."""
    if t.drawn >= 0 and kind_of_face(t.drawn) == kind and (not is_red(t.drawn) or not t.legal[kind]):
        return codes.TSUMOGIRI
    if t.legal[kind]:
        return kind
    return red_face(kind)


Judge = Callable[[Observations], F32]
"""Observations of one head -> probabilities float32 [n, k] of its outputs; 0 for discards that are not legal."""


def move_probabilities(
    tables: Records,
    indices: I64,
    encoder: Encoder,
    judge: Judge,
    keep_probabilities: Mapping[int, float] = NO_KEEP_PROBABILITIES,
) -> F32:
    """Return float32 [n, NUM_ACTIONS] for the actors of the tables ``indices``; NaN where no net is asked.

    That is where a rule decides (wins, one legal move), and for passing. Of moves that a net cannot tell apart (a red
    five or another one, the tile just drawn or its equal) only the one that an agent would play has a probability.
    ``keep_probabilities`` as for ``decide``.
    """
    chances = np.full((len(indices), codes.NUM_ACTIONS), np.nan, np.float32)
    actions = np.full(indices.shape, UNDECIDED, np.int16)
    apply_forced_actions(tables, indices, actions)
    for head in HEAD_ORDER:
        asked = observe_head(tables, indices, actions, encoder, head, keep_probability=keep_probabilities.get(head))
        if not asked.owners.size:
            continue
        probabilities = judge(asked.observations)
        if head == DISCARD_HEAD:
            for row, kind in zip(*np.nonzero(asked.observations.masks), strict=True):
                owner = asked.owners[row]
                chances[owner, discard_action(tables[indices[owner]], kind)] = probabilities[row, kind]
        else:
            moves = np.full_like(asked.candidates, codes.RIICHI) if head == RIICHI_HEAD else asked.candidates
            chances[asked.owners, moves] = probabilities[:, 1]
    return chances


def play_to_end(tables: Records, encoder: Encoder, forward: Forward, *, num_tables: int) -> None:
    """Play every one of ``tables`` [n] in place until KYOKU_END, as ``decide`` does with these arguments.

    ``forward`` gets lines that count within ``tables``. At most ``num_tables`` are under way at a time; when one ends,
    the next one begins. What happens at a table does not depend on the others.
    """
    suits = load_suits()
    live, actions = np.zeros(0, np.int64), np.zeros(0, np.int16)
    begun = 0
    while live.size or begun < len(tables):
        new = np.arange(begun, min(len(tables), begun + num_tables - live.size))
        begun += new.size
        live = np.concatenate([live, new])
        actions = np.concatenate([actions, np.full(new.shape, UNDECIDED, np.int16)])
        play_to_observation(tables, suits, live, actions)
        live = live[tables["phase"][live] != codes.KYOKU_END]
        actions = decide(tables, live, encoder, forward)
