from __future__ import annotations

import numpy as np
import pytest

from suphx.games.mahjong.shanten import load_suits
from suphx.games.registry import agent_names
from suphx.games.riichi import bots
from suphx.games.riichi import table as codes
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.replay import Replayer
from suphx.games.riichi.rules import Rules, tenhou
from suphx.games.riichi.table import fill_unseen
from suphx.games.riichi.tables import ScriptedAgent
from suphx.games.riichi.tile import parse_kinds
from suphx.selfplay.rollouts.rollout import play_games
from tests.games.riichi.builders.hands import kind
from tests.games.riichi.builders.table_builder import Deal, bits_of, counts_of

TENPAI = "123456789m1123p"


def after_riichi() -> Deal:
    """Return a deal in which seat 0 has discarded 4s and then 7z with riichi, and seat 1 has discarded 9s since."""
    deal = Deal([TENPAI, "", "", ""], draws="4s 6z 5z 5z 7z 9s")
    deal.play("0 4s, tsumogiri 3, 0 riichi, 0 7z, 1 9s")
    return deal


def test_unseen_tiles_are_all_but_own_hand_rivers_melds_and_indicators() -> None:
    deal = Deal(["1111m258p258s123z", "469m19p19s122334z", "", ""], draws="5m", dora="3z9s")
    deal.play("0 ankan 1m, 0 5m, 1 chi middle, all pass")
    unseen = np.zeros(34, np.int8)
    fill_unseen(deal.tables[0], 2, unseen)
    seen = counts_of("1111m456m3z9s") + deal.table["hand"][2]
    assert unseen.tolist() == (4 - seen).tolist()


def test_the_own_river_and_what_was_discarded_since_riichi_is_safe() -> None:
    deal = after_riichi()
    safe = int(bots.safe_kinds(deal.tables[0], 0))
    assert safe == bits_of("4s7z9s")
    dangers = np.zeros(34, np.int64)
    assert bots.fill_dangers(deal.tables[0], 2, dangers)
    assert dangers[parse_kinds("4s7z9s")].tolist() == [0, 0, 0]
    assert not bots.fill_dangers(deal.tables[0], 0, np.zeros(34, np.int64))  # its own riichi does not frighten seat 0


def test_suji_is_less_dangerous_and_middle_tiles_are_most() -> None:
    dangers = np.zeros(34, np.int64)
    bots.fill_dangers(after_riichi().tables[0], 2, dangers)
    one_suji, no_suji = parse_kinds("1s")[0], parse_kinds("1m")[0]
    assert 0 < dangers[one_suji] < dangers[no_suji] < dangers[parse_kinds("5m")[0]]


def test_games_do_not_depend_on_threads_or_on_their_neighbours() -> None:
    count = bots.GAMES_A_CALL + 3
    one = bots.play_random(count, tenhou(), seed=9)
    two = bots.play_random(count, tenhou(), seed=9, num_threads=2)
    assert one.decisions.tolist() == two.decisions.tolist()
    assert one.kyokus.tolist() == two.kyokus.tolist()
    later = bots.play_random(3, tenhou(), seed=9 + bots.GAMES_A_CALL)
    assert later.decisions.tolist() == one.decisions[bots.GAMES_A_CALL :].tolist()


@pytest.mark.parametrize(
    ("hanchans", "threads", "seed", "message"),
    [
        (0, 1, 0, "0 hanchans on 1 threads"),
        (1, 0, 0, "1 hanchans on 0 threads"),
        (2, 1, -1, "seed is -1"),
        (2, 1, 2**62, "seed is"),
    ],
)
def test_wrong_arguments_are_refused(hanchans: int, threads: int, seed: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bots.play_random(hanchans, tenhou(), seed=seed, num_threads=threads)


SOUTH_3, SOUTH_4, WEST_4 = 6, 7, 11


def ron(kyoku: int, scores: tuple[int, int, int, int], *, winner: int = 0, kyotaku: int = 0) -> bool:
    """Return whether ``winner`` would take a ron on 4p of seat 3, the dealer of every fourth deal."""
    hands = [TENPAI if seat == winner else "" for seat in range(4)]
    deal = Deal(hands, draws="4p", kyoku=kyoku, scores=scores, kyotaku=kyotaku, left=20)
    deal.discard(int(deal.table["actor"]), "4p")
    assert deal.is_offered(winner, codes.RON)
    while deal.table["actor"] != winner:
        deal.act(int(deal.table["actor"]), codes.PASS)
    return bool(bots.should_win(deal.tables[0]))


@pytest.mark.parametrize(
    ("kyoku", "scores", "others", "wins"),
    [
        (SOUTH_4, (2000, 33_000, 33_000, 32_000), {}, False),  # the game ends and we stay last
        (SOUTH_4, (24_000, 25_000, 27_000, 24_000), {}, True),  # nobody has 30,000: West comes
        (SOUTH_4, (28_000, 31_000, 31_000, 10_000), {}, True),  # we are not last
        (SOUTH_4, (20_000, 33_000, 24_500, 22_500), {}, True),  # 3,900 lift us to third: 23,900 and 18,600
        (SOUTH_4, (15_000, 45_000, 38_000, 2000), {}, True),  # the loser is last, below zero
        (WEST_4, (16_000, 28_000, 28_000, 28_000), {}, False),  # West 4 is the end whatever the points
        (SOUTH_4, (18_000, 33_000, 27_000, 22_000), {}, True),
        (SOUTH_4, (14_000, 33_500, 26_500, 23_000), {}, False),  # 17,900 against 19,100
        (SOUTH_4, (14_000, 33_500, 26_500, 23_000), {"kyotaku": 3}, True),
        (SOUTH_4, (16_100, 33_000, 27_000, 23_900), {}, True),  # 3,900 make both 20,000: seat 0 is third
        (SOUTH_4, (20_000, 33_000, 16_100, 30_900), {"winner": 2}, False),  # seat 2 is last
    ],
)
def test_ron(kyoku: int, scores: tuple[int, int, int, int], others: dict[str, int], wins: bool) -> None:
    assert ron(kyoku, scores, **others) == wins


def test_before_the_last_planned_deal_every_win_is_taken() -> None:
    deal = Deal(["", "", TENPAI, ""], draws="4p", kyoku=SOUTH_3, scores=(33_000, 33_000, 1000, 33_000), left=20)
    assert bots.should_win(deal.tables[0])
    deal = Deal([TENPAI, "", "", ""], draws="4p", kyoku=SOUTH_3, scores=(1000, 33_000, 33_000, 33_000), left=20)
    deal.discard(2, "4p")
    assert deal.is_offered(0, codes.RON)
    assert deal.table["actor"] == 0
    assert bots.should_win(deal.tables[0])


def test_the_dealer_takes_a_win_that_lets_it_deal_on() -> None:
    deal = Deal(["", "", "", TENPAI], draws="4p", kyoku=SOUTH_4, scores=(33_000, 33_000, 32_000, 2000), left=20)
    assert deal.is_offered(3, codes.TSUMO)
    assert bots.should_win(deal.tables[0])


def test_below_zero_ends_the_game_whatever_the_target() -> None:
    rules = Rules(target_points=99_000)
    deal = Deal(
        [TENPAI, "", "", ""], draws="4p", kyoku=SOUTH_4, scores=(1000, 49_000, 49_900, 100), left=20, rules=rules
    )
    deal.discard(3, "4p")
    assert deal.table["actor"] == 0
    assert bots.should_win(deal.tables[0])  # the loser falls behind us


FAR = "1478m258p19s1236z"


def play(names: list[str], num_games: int) -> list[GameLog]:
    """Play games of the named scripted agents, the first one at every seat in turn."""
    agents = [ScriptedAgent(name) for name in names]
    seating = np.array([np.roll([0, 1, 1, 1] if len(names) > 1 else [0] * 4, game) for game in range(num_games)])
    return list(play_games(agents, seating, [1000 + game // 4 for game in range(num_games)], tenhou()))


def mean_placement(logs: list[GameLog], name: str) -> float:
    places = []
    for log in logs:
        assert log.final_scores is not None
        seat = log.names.index(name)
        ahead = [s > log.final_scores[seat] for s in log.final_scores]
        ties = [log.final_scores[other] == log.final_scores[seat] for other in range(seat)]
        places.append(1 + sum(ahead) + sum(ties))
    return float(np.mean(places))


@pytest.mark.parametrize("name", agent_names("riichi"))
def test_scripted_agents_play_whole_games_by_the_rules(name: str) -> None:
    replayer = Replayer()
    for log in play([name], 8):
        assert replayer.replay(log) == []


def test_ukeire_beats_random_and_tsumogiri() -> None:
    # The standard error of 80 games is 0.13 places.
    assert mean_placement(play(["ukeire", "random"], 80), "ukeire") < 1.5
    assert mean_placement(play(["ukeire", "tsumogiri"], 80), "ukeire") < 1.7


def test_random_takes_every_legal_action_for_some_number() -> None:
    deal = Deal([TENPAI, "", "", ""], draws="4p")
    legal = set(np.flatnonzero(deal.table["legal"]).tolist())
    assert {int(bots.choose_random(deal.tables[0], number)) for number in range(len(legal))} == legal
    assert bots.choose_random(deal.tables[0], 3) == bots.choose_random(deal.tables[0], 3 + len(legal))


def test_tsumogiri_wins_and_otherwise_discards_what_it_drew() -> None:
    deal = Deal([TENPAI, "44p", "", ""], draws="7z 6z")
    assert bots.choose_tsumogiri(deal.tables[0]) == codes.TSUMOGIRI
    deal.play("0 7z, 1 4p")
    assert bots.choose_tsumogiri(deal.tables[0]) == codes.RON
    assert bots.choose_tsumogiri(Deal([TENPAI, "", "", ""], draws="4p").tables[0]) == codes.TSUMO
    deal = Deal([FAR, "33m", "", ""], draws="3m")
    deal.discard(0, "3m")
    assert bots.choose_tsumogiri(deal.tables[0]) == codes.PASS
    deal.act(1, codes.PON)  # by the agent that sat here before
    assert deal.table["legal"][bots.choose_tsumogiri(deal.tables[0])]


NO_OPEN_TANYAO = {"rules": Rules(open_tanyao=False)}


@pytest.mark.parametrize(
    ("hands", "draws", "moves", "others", "action"),
    [
        ([TENPAI], "4p", "", {}, codes.TSUMO),
        ([TENPAI], "7z", "", {}, codes.RIICHI),
        (["19m19p19s123z2358m"], "5p", "", {}, codes.NINE_TERMINALS),
        (["123m456789p46m56s"], "2z", "", {}, codes.TSUMOGIRI),  # a two-sided run and a gap to come stay
        (["", "55z2378m99p45p67s1z"], "5z", "0 5z", {}, codes.PON),  # a dragon
        (["", "44z2378m99p45p67s1z"], "4z", "0 4z", {}, codes.PASS),  # a guest wind
        (["", "2346788m3355p67s"], "5s", "0 5s", {}, codes.CHI),  # all simples
        (["", "2346788m3355p67s"], "5s", "0 5s", NO_OPEN_TANYAO, codes.PASS),
        (["", "1346789m1155p67s"], "5s", "0 5s", {}, codes.PASS),  # no yaku in sight
        (["5555z2389m45p678s"], "3z", "", {}, codes.ANKAN + kind("5z")),  # it costs nothing
        # against riichi, a far hand folds: the only tile that is safe for certain
        ([TENPAI, "2588m258p258s127z"], "7z 5m", "0 riichi, 0 7z, all pass", {}, kind("7z")),
    ],
)
def test_ukeire_takes_this_action(
    hands: list[str], draws: str, moves: str, others: dict[str, Rules], action: int
) -> None:
    deal = Deal(hands, draws=draws, **others)  # type: ignore[arg-type]
    if moves:
        deal.play(moves)
    assert deal.table["actor"] == len(hands) - 1
    assert bots.choose_ukeire(deal.tables[0], load_suits()) == action


def test_ukeire_keeps_the_single_tile_that_can_be_drawn_more_often() -> None:
    deal = Deal(["123789m234678p5z", "5z", "5z", "5z"], draws="4z")
    assert bots.choose_ukeire(deal.tables[0], load_suits()) in (codes.RIICHI, kind("5z"))


def test_yakuhai_are_dragons_and_the_own_and_the_rounds_wind() -> None:
    deal = Deal(["", "", "", ""], kyoku=5)  # South 2, seat 1 is dealer
    own = {seat: {tile for tile in range(34) if bots.is_yakuhai(deal.tables[0], seat, tile)} for seat in range(4)}
    dragons_and_south = {28, 31, 32, 33}
    assert own == {
        0: dragons_and_south | {30},
        1: dragons_and_south | {27},
        2: dragons_and_south,
        3: dragons_and_south | {29},
    }
