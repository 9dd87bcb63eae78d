"""Nets of Dazhong: choices as of the slow twin, planes of hands, samples; what hands are worth in a match."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from suphx.experience.observation import Observations, PolicyOutputs
from suphx.games.dazhong.features import LAYOUT, encode, move_of_choice
from suphx.games.dazhong.game import GAME
from suphx.games.dazhong.learning import LEARNING, WIN_WORTH
from suphx.games.dazhong.names import DECISIONS
from suphx.games.dazhong.records import positions
from suphx.games.dazhong.table import NUM_KINDS, OWN_TURN, TABLE, WIN, Rules, move_text
from suphx.games.dazhong.tables import ScriptedAgent, played_game
from suphx.games.learning import LearningConfig
from suphx.games.mahjong.hand_learning import HandLearningTables
from suphx.games.mahjong.planes import unpack_planes
from suphx.games.mahjong.shanten import load_suits
from suphx.games.mahjong.tile import kind_name
from suphx.kernel.record import U8, Records
from suphx.selfplay.rollouts.rollout import play_games
from tests.games.dazhong.slow_dazhong import SlowHand

KINDS = {kind_name(kind): kind for kind in range(NUM_KINDS)}


def new_tables(num_tables: int, first_seed: int = 3) -> HandLearningTables:
    config = LearningConfig(num_tables=num_tables, learned=(0, 1))
    return LEARNING.new_learning_tables(config, "dazhong", first_seed=first_seed)


def state_of(tables: HandLearningTables) -> Records:
    return tables.state()["tables"].reshape(-1).view(TABLE)


def twin_of(table: Any) -> SlowHand:
    """Return a slow hand with the wall of a table, after the moves without a choice."""
    twin = SlowHand([kind_name(int(tile) >> 2) for tile in table["wall"]], int(table["dealer"]))
    play_forced(twin)
    return twin


def play_forced(twin: SlowHand) -> None:
    while twin.seat is not None and ("win" in twin.legal or len(twin.legal) == 1):
        twin.move("win" if "win" in twin.legal else next(iter(twin.legal)))


def answer(part: Observations, rng: np.random.Generator) -> PolicyOutputs:
    outputs = PolicyOutputs.blank(len(part), 0)
    outputs.actions[:] = (part.masks * rng.random(part.masks.shape)).argmax(axis=1)
    return outputs


def test_choices_and_points_are_those_of_the_slow_twin() -> None:
    rng, tables = np.random.default_rng(1), new_tables(3)
    twins = [twin_of(table) for table in state_of(tables)]
    met, num_ended = set[str](), 0
    while num_ended < 20:
        before = state_of(tables)
        observed = tables.observe()
        owners = [np.flatnonzero((before["phase"] == OWN_TURN) == (part.decision == 0)) for part in observed]
        outputs = [answer(part, rng) for part in observed]
        for part, own, output in zip(observed, owners, outputs, strict=True):
            for mask, index, choice in zip(part.masks, own.tolist(), output.actions.tolist(), strict=True):
                twin, table = twins[index], before[index]
                moves = {each: move_text(move_of_choice(table, each)) for each in np.flatnonzero(mask).tolist()}
                assert twin.seat == table["actor"]
                assert twin.legal == set(moves.values())
                assert len(moves) == len(twin.legal) > 1
                met.add(moves[choice].partition(" ")[0])
                twin.move(moves[choice])
                play_forced(twin)
        ended = tables.step(outputs)
        over = [index for index, twin in enumerate(twins) if twin.seat is None]
        assert ended.num_games == len(over)
        for index, points in zip(over, ended.points.tolist(), strict=True):
            twin = twins[index]
            assert points == [fan + WIN_WORTH * (seat in twin.wins) for seat, fan in enumerate(twin.fan)]
            twins[index] = twin_of(state_of(tables)[index])
        num_ended += len(over)
    assert met >= {"pass", "pung", "chow", "kong", "5m"}


def table_of(hand: str, *, drawn: str = "", melds: int = 0) -> Any:
    """Return a table whose seat 0 has ``hand`` and has to discard."""
    table = np.zeros(1, TABLE)[0]
    table["phase"], table["drawn"], table["claimed"], table["took"] = OWN_TURN, -1, -1, -1
    table["wall_left"], table["num_melds"][0] = 20, melds
    for rank, suit in ((hand[i], hand[i + 1]) for i in range(0, len(hand), 2)):
        table["hand"][0, KINDS[rank + suit]] += 1
    if drawn:
        table["drawn"] = KINDS[drawn]
    return table


def planes_of(table: Any) -> U8:
    row = np.zeros(LAYOUT.observation_bytes, np.uint8)
    encode(table, load_suits(), row)
    return unpack_planes(row, LAYOUT.num_planes)


def part_of(planes: U8, name: str) -> list[list[str]]:
    """Return the kinds of each plane of a range; ``full`` for a full one."""
    first, count = LAYOUT[name].first, LAYOUT[name].count
    names = [[kind_name(kind) for kind in np.flatnonzero(plane).tolist()] for plane in planes[first : first + count]]
    return [["full"] if len(each) == 34 else each for each in names]


def test_planes_of_a_hand_that_can_be_ready() -> None:
    planes = planes_of(table_of("1m2m3m4p5p6p7s8s9s1s1s2s3s9m", drawn="9m"))
    assert part_of(planes, "hand")[1:] == [["1s"], [], []]
    assert part_of(planes, "drawn") == [["9m"]]
    assert part_of(planes, "shanten").index(["full"]) == 0
    assert part_of(planes, "keeps") == [["9m", "1s"]]
    assert part_of(planes, "ukeire")[:4] == [["9m", "1s"], ["9m", "1s"], ["9m"], []], "1s and 4s: 6 tiles; 9m: 3"
    assert part_of(planes, "wall") == [["full"]] * 4 + [[]] * 4
    assert part_of(planes, "pairs") == [[]] * 3


def test_planes_of_six_pairs_and_of_a_hand_with_melds() -> None:
    planes = planes_of(table_of("1m1m3m3m5m5m7p7p9p9p2s2s4s6s", drawn="6s"))
    assert part_of(planes, "shanten").index(["full"]) == 0
    assert part_of(planes, "keeps") == [["4s", "6s"]]
    assert part_of(planes, "pairs") == [["full"]] * 3
    planes = planes_of(table_of("1m1m2m5p9s", melds=3))
    assert part_of(planes, "shanten").index(["full"]) == 1
    assert part_of(planes, "pairs") == [[]] * 3


def test_samples_are_the_decisions_of_recorded_hands(tmp_path: Path) -> None:
    agent, seating = ScriptedAgent("fanfou_op"), np.zeros((3, 4), np.int64)
    records = list(play_games([agent], seating, range(3), Rules(), game="dazhong"))
    store = LEARNING.samples.write(records, tmp_path)
    found = [LEARNING.samples.encode(store, np.arange(3), kind.number, "dazhong") for kind in DECISIONS]
    moves: list[list[str]] = [[], []]
    for tables in map(positions, records):
        for table, move in zip(tables[:-1], tables[-1]["moves"].tolist(), strict=False):
            if table["legal"].sum() > 1 and not table["legal"][WIN]:
                kind = int(table["phase"] != OWN_TURN)
                label = int(found[kind].labels[len(moves[kind])])
                moves[kind].append(move_text(move))
                assert move_text(move_of_choice(table, label)) == move_text(move)
    for part, own in zip(found, moves, strict=True):
        assert len(part.labels) == len(own) > 0
        assert part.masks[np.arange(len(part.labels)), part.labels].all()


def test_wins_are_worth_more_than_payments_in_a_match() -> None:
    records = play_games([ScriptedAgent("random")], np.zeros((40, 4), np.int64), range(40), Rules(), game="dazhong")
    points = np.array([played_game(positions(record)[-1], Rules(), ()).points for record in records])
    wins, fan = np.divmod(points + 500, 1000)
    assert set(np.unique(wins)) == {0, 1}
    assert (fan - 500).sum(axis=1).tolist() == [0] * 40
    places, _ = GAME.scoring.settle(points, [()] * 40)
    assert (places[wins.sum(axis=1) == 1][wins[wins.sum(axis=1) == 1] == 1] == 1).all()
