"""What nets see: each group of planes at positions of real games, nothing hidden, any order of the suits; choices."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.experience.observation import Samples
from suphx.games.mahjong.planes import SUIT_ORDERS, PlaneLayout, unpack_planes
from suphx.games.mahjong.suit_exchange import KINDS, exchange_suits, exchanged_choices
from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, add_meld
from suphx.games.mcr.agents import FAN_PLAN, choose_scripted
from suphx.games.mcr.fans import FANS
from suphx.games.mcr.features import (
    LAYOUT,
    PLAN_LAYOUT,
    choice_of_move,
    encode,
    fill_mask,
    forced_move,
    kind_of,
    move_of_choice,
)
from suphx.games.mcr.names import CLAIM_KIND, DECISIONS, DISCARD_KIND
from suphx.games.mcr.record import positions as game_positions
from suphx.games.mcr.record import winning_fans
from suphx.games.mcr.search import CHOWS, FIRST_SLOTS, NUM_ADVICES, NUM_SLOTS, OWN, PUNGS, SLOTS, UNSEEN, search
from suphx.games.mcr.table import (
    CHOW,
    CLAIM,
    KIND_NAMES,
    KONG,
    NO_KIND,
    OWN_TURN,
    PASS,
    PUNG,
    TABLE,
    WIN,
    Rules,
    move_text,
)
from suphx.games.mcr.tables import McrTables, ScriptedAgent
from suphx.kernel.record import I8, U8, Records
from suphx.selfplay.rollouts.rollout import play_games
from tests.games.mcr.course import SUITS, Course
from tests.games.mcr.plain_run import encoded, run_plain

CHOICES = {DISCARD_KIND: exchanged_choices(KINDS), CLAIM_KIND: exchanged_choices((0, 1), (7, 0), KINDS, KINDS)}


def played(agent: str, num_games: int) -> Records:
    """Return the positions of games at which a net is asked."""
    tables, player = McrTables(num_games, Rules()), ScriptedAgent(agent)
    tables.begin(np.arange(num_games), range(num_games))
    parts = []
    while (waiting := tables.waiting()).size:
        parts.append(tables.state[waiting])
        tables.advance(waiting, player.act(tables.state, waiting))
    return np.array([table for table in np.concatenate(parts) if forced_move(table) < 0], TABLE)


@pytest.fixture(scope="module")
def positions() -> Records:
    return np.concatenate([played(agent, 12) for agent in ("random", "shanten")])


def row_of(table: Any, layout: PlaneLayout = LAYOUT) -> U8:
    row = np.zeros(layout.observation_bytes, np.uint8)
    encode(table, SUITS, row)
    return row


def planes_of(table: Any, *names: str) -> list[U8]:
    """Return planes by the names of their ranges, all of them uint8 (planes, 34)."""
    layout = LAYOUT if set(names) <= {part.name for part in LAYOUT.ranges} else PLAN_LAYOUT
    planes, parts = unpack_planes(row_of(table, layout), layout.num_planes), [layout[name] for name in names]
    return [planes[part.first : part.first + part.count] for part in parts]


def mask_of(table: Any) -> U8:
    kind = kind_of(table)
    mask = np.zeros(DECISIONS[kind].num_choices, np.uint8)
    fill_mask(table, kind, mask)
    return mask


def melds_of(table: Any, seat: int, *, is_own: bool) -> I8:
    counts = np.zeros(34, np.int8)
    for place in range(table["num_melds"][seat]):
        if is_own or table["meld_type"][seat, place] != ANKAN_MELD:
            add_meld(counts, int(table["meld_type"][seat, place]), int(table["meld_kind"][seat, place]), 1)
    return counts


def unseen_of(table: Any) -> I8:
    """Count what the actor does not see: from all melds and all discards that were not claimed."""
    seat = int(table["actor"])
    seen = table["hand"][seat].copy()
    for other in range(4):
        seen += melds_of(table, other, is_own=other == seat)
        river = table["river"][other, : table["num_discards"][other]]
        np.add.at(seen, river[table["is_taken"][other, : river.size] == 0], 1)
    unseen: I8 = 4 - seen
    return unseen


def as_counts(planes: U8) -> list[int]:
    """Return the counts of four count planes."""
    assert (np.diff(planes.astype(np.int8), axis=0) <= 0).all()
    return planes.sum(axis=0).tolist()  # type: ignore[no-any-return]


def test_there_are_237_planes_if_drops_are_subtracted() -> None:
    assert LAYOUT.num_planes - (NUM_SLOTS + 1) == 237
    assert LAYOUT.observation_bytes == 1122
    assert (LAYOUT["advice"].first, LAYOUT["base"].first) == (184, 262)


def test_winds_are_one_full_plane_each(positions: Records) -> None:
    for table in positions[::20]:
        seat_wind, round_wind = planes_of(table, "seat_wind", "round_wind")
        assert seat_wind.tolist() == np.repeat(np.arange(4) == table["actor"], 34).reshape(4, 34).tolist()
        assert round_wind.tolist() == np.repeat(np.arange(4) == table["round_wind"], 34).reshape(4, 34).tolist()


def test_tiles_of_hands_and_melds_are_counted(positions: Records) -> None:
    for table in positions[::5]:
        seat = int(table["actor"])
        own, hand, melds, unseen = planes_of(table, "own", "hand", "melds", "unseen")
        assert as_counts(hand) == table["hand"][seat].tolist()
        assert as_counts(own) == (table["hand"][seat] + melds_of(table, seat, is_own=True)).tolist()
        for distance in range(4):
            other = melds_of(table, (seat + distance) % 4, is_own=distance == 0)
            assert as_counts(melds[4 * distance : 4 * distance + 4]) == other.tolist()
        assert as_counts(unseen) == unseen_of(table).tolist()


def test_discards_are_one_plane_each_also_those_that_were_claimed(positions: Records) -> None:
    for table in positions[::5]:
        (rivers,) = planes_of(table, "rivers")
        for distance in range(4):
            seat = (int(table["actor"]) + distance) % 4
            number = int(table["num_discards"][seat])
            own = rivers[37 * distance : 37 * distance + 37]
            assert own.sum(axis=1).tolist() == [1] * number + [0] * (37 - number)
            assert own[:number].argmax(axis=1).tolist() == table["river"][seat, :number].tolist()
    assert any(table["is_taken"].any() for table in positions)


def test_the_claimed_discard_is_the_newest_plane_of_its_seat_and_is_seen() -> None:
    table = Course({1: "T46 B11"}, {0: "T5"}).play("0 T5").table
    rivers, unseen = planes_of(table, "rivers", "unseen")
    t5 = KIND_NAMES.index("T5")
    assert (table["phase"], table["actor"]) == (CLAIM, 1)
    assert np.flatnonzero(rivers.sum(axis=1)).tolist() == [3 * 37]
    assert rivers[3 * 37, t5] == 1
    assert unseen[:, t5].tolist() == [1, 1, 1, 0]


def test_a_concealed_kong_is_seen_by_its_owner_only() -> None:
    hands, f1 = {0: "F1111 W123456 T34 B9", 1: "W77 B11"}, KIND_NAMES.index("F1")
    course = Course(hands, {0: "F2 W7"}).play("0 kong F1")
    own, hand, melds, unseen = planes_of(course.table, "own", "hand", "melds", "unseen")
    assert [planes[:4, f1].sum() for planes in (own, hand, melds, unseen)] == [4, 0, 4, 0]
    course.play("0 W7")
    melds, unseen = planes_of(course.table, "melds", "unseen")
    assert course.table["actor"] == 1
    assert not melds.any()
    assert unseen[:, f1].all()


def test_advice_is_that_of_the_search(positions: Records) -> None:
    met = np.zeros(NUM_ADVICES, np.int64)
    for table in positions[::5]:
        seat = int(table["actor"])
        counts, expected = np.zeros((4, 34), np.int8), np.zeros((NUM_ADVICES, 3), np.int64)
        counts[OWN], counts[UNSEEN] = table["hand"][seat], unseen_of(table)
        for place in range(table["num_melds"][seat]):
            is_chow = table["meld_type"][seat, place] == CHI_MELD
            counts[CHOWS if is_chow else PUNGS, table["meld_kind"][seat, place]] += 1
        search(SUITS, counts, expected)
        advice, base = planes_of(table, "advice", "base")
        bits = (advice.astype(np.int64) << np.arange(34)).sum(axis=1).reshape(-1, 3)
        assert bits.tolist() == expected[:-1].tolist()
        assert (base.astype(np.int64) << np.arange(34)).sum(axis=1).tolist() == expected[-1, 1:].tolist()
        met += expected.any(axis=1)
    assert (met > 0).sum() >= 20


def test_what_wins_was_advised_before() -> None:
    """The advice of the winner's last decision has nearly all searched fans of real wins."""
    met = Counter[bool]()
    agent = ScriptedAgent("shanten")
    for record in play_games([agent], np.zeros((40, 4), np.int64), range(40), Rules(), game="mcr"):
        *before, end = game_positions(record)
        asked = [table for table in before if table["actor"] == end["winner"] and forced_move(table) < 0]
        for number, _ in winning_fans(end) if asked else ():
            if (name := FANS[number - 1][0]) in SLOTS:
                (advice,) = planes_of(asked[-1], "advice")
                place = list(SLOTS).index(name)
                met[bool(advice[3 * FIRST_SLOTS[place] : 3 * FIRST_SLOTS[place + 1]].any())] += 1
    assert met[True] > 15
    assert met[False] <= 2


def scrambled(table: Any, rng: np.random.Generator) -> Records:
    """Return a table that looks the same to its actor: other hands, walls, concealed kongs, answers, seed."""
    changed = table.copy()
    seat = int(table["actor"])
    pool = np.repeat(np.arange(34), unseen_of(table))
    rng.shuffle(pool)
    for other in range(4):
        if other == seat:
            continue
        for place in range(table["num_melds"][other]):
            if table["meld_type"][other, place] == ANKAN_MELD:
                changed["meld_kind"][other, place] = rng.integers(34)
        number = int(table["hand"][other].sum())
        changed["hand"][other], pool = np.bincount(pool[:number], minlength=34), pool[number:]
    changed["wall"] = rng.permutation(136)
    changed["answers"] = rng.integers(0, PASS, 4)
    changed["seed"] += 1
    changed["moves"] = 0
    return changed  # type: ignore[no-any-return]


def test_what_moves_are_worth_is_what_fan_plan_chooses_by() -> None:
    tables, levels = played("fan_plan", 8), Counter[int]()
    for table in tables:
        move = choose_scripted(table, SUITS, FAN_PLAN)
        worth, losses, gains = planes_of(table, "worth", "losses", "gains")
        gains = gains.reshape(3, -1, 34)
        levels[int(worth[:, 0].sum())] += 1
        assert (worth == worth[:, :1]).all()
        assert (np.diff(worth[:, 0].astype(int)) <= 0).all()
        assert (losses[:-1] <= losses[1:]).all()
        assert (gains[:, 1:] <= gains[:, :-1]).all()
        if move < KONG and losses.any():
            assert losses[0, move]
            assert not (losses[:, table["legal"][:34] == 0]).any()
        elif KONG <= move < CHOW:
            assert gains[2, 0, move - KONG]
        elif move == PUNG or CHOW <= move < PUNG:
            assert gains[int(move == PUNG), 1, table["claimed"] if move == PUNG else move - CHOW]
        elif move == PASS:
            assert not gains[:, 2].any()
    assert len(levels) > 6


def test_nothing_that_is_hidden_has_any_influence(positions: Records) -> None:
    rng = np.random.default_rng(3)
    for table in positions[::3]:
        changed = scrambled(table, rng)
        assert (changed["hand"] != table["hand"]).any()
        assert (row_of(changed, PLAN_LAYOUT) == row_of(table, PLAN_LAYOUT)).all()
        assert (mask_of(changed) == mask_of(table)).all()


def with_exchanged_suits(tables: Records, order: np.typing.NDArray[np.int64]) -> Records:
    """Return tables with the suit s moved to ``order[s]`` in all that is seen, and in the legal moves."""
    new = np.arange(34)
    new[:27] = (9 * order[:, np.newaxis] + np.arange(9)).ravel()
    changed, old = tables.copy(), np.argsort(new)
    for name in ("hand", "shown"):
        changed[name] = tables[name][..., old]
    for name in ("claimed", "river", "meld_kind"):
        changed[name] = np.where(tables[name] == NO_KIND, NO_KIND, new[tables[name]])
    for first, number in ((0, 34), (KONG, 34), (CHOW, 27)):
        changed["legal"][:, first : first + number] = tables["legal"][:, first : first + number][:, old[:number]]
    return changed


def test_an_exchange_of_suits_exchanges_planes_and_choices(positions: Records) -> None:
    for number, order in enumerate(SUIT_ORDERS):
        some = positions[number::3]
        for kind in DECISIONS:
            own = some[np.array([kind_of(table) == kind.number for table in some])]
            seen = Samples(
                np.array([row_of(table) for table in own]),
                np.array([mask_of(table) for table in own]),
                np.zeros(len(own), np.int8),
            )
            exchange_suits(seen, np.full(len(own), number), CHOICES[kind.number])
            changed = with_exchanged_suits(own, order)
            assert (seen.planes == [row_of(table) for table in changed]).all()
            assert (seen.masks == [mask_of(table) for table in changed]).all()


def test_choices_have_the_names_of_their_moves(positions: Records) -> None:
    met = Counter[str]()
    for table in positions:
        kind = kind_of(table)
        legal = set(np.flatnonzero(table["legal"]).tolist())
        for choice in np.flatnonzero(mask_of(table)).tolist():
            move, name = move_of_choice(table, kind, choice), DECISIONS[kind].outputs[choice]
            met[f"{kind} {name.partition(' ')[0] if kind == CLAIM_KIND else ''}"] += 1
            if move < 0:
                assert (name, table["phase"]) == ("pass", OWN_TURN)
                continue
            text = move_text(move)
            assert name == (f"pung {KIND_NAMES[table['claimed']]}" if move == PUNG else text)
            assert choice_of_move(table, kind, move) == choice
            legal.remove(move)
        if table["phase"] == OWN_TURN and kind == CLAIM_KIND:
            assert all(choice_of_move(table, kind, move) == 0 for move in legal)
        else:
            assert not legal if kind == CLAIM_KIND else all(move >= KONG for move in legal)
    assert len(met) == 5


def test_a_kong_is_decided_before_the_discard() -> None:
    course = Course({0: "F1111 W123456 T34 B9"}, {0: "F2"})
    table = course.table
    assert kind_of(table) == CLAIM_KIND
    assert [DECISIONS[CLAIM_KIND].outputs[choice] for choice in np.flatnonzero(mask_of(table))] == ["pass", "kong F1"]
    assert move_of_choice(table, CLAIM_KIND, 0) == -1
    before = row_of(table)
    table["kong_declined"] = 1
    assert kind_of(table) == DISCARD_KIND
    assert mask_of(table).tolist() == (table["hand"][0] > 0).astype(int).tolist()
    assert (row_of(table) == before).all()
    course.play("0 F2")
    assert table["kong_declined"] == 0


def test_wins_and_only_moves_are_forced() -> None:
    course = Course({0: "W123456789 T234 B5"}, {0: "B5"})
    assert forced_move(course.table) == WIN
    course.table["legal"][WIN] = 0
    assert forced_move(course.table) == -1
    course.table["legal"][: KIND_NAMES.index("B5")] = 0
    course.table["legal"][KIND_NAMES.index("B5") + 1 :] = 0
    assert forced_move(course.table) == KIND_NAMES.index("B5")
    assert choice_of_move(course.table, CLAIM_KIND, WIN) == -1


def test_plain_python_encodes_alike(positions: Records, tmp_path: Path) -> None:
    some = positions[::15].copy()
    assert run_plain("tests.games.mcr.plain_run", some, tmp_path) == f"{encoded(some)}\n"
