"""Other people's engines, as fast as their own interfaces allow, and winning hands of our games to compare with them.

This is the only file that imports them; they are in the extra ``peers``. Whatever the timed functions need is made
before the clock starts.
"""

from __future__ import annotations

import importlib
import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suphx.games.mahjong.shanten import Suits, load_suits
from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, PON_MELD, meld_size
from suphx.games.riichi.bots import choose_ukeire
from suphx.games.riichi.ending import count_dora, count_red, count_ura, start_game
from suphx.games.riichi.kyoku import step
from suphx.games.riichi.legal import circumstances_of, dealer_of, score_win
from suphx.games.riichi.rules import apply_rules, tenhou
from suphx.games.riichi.simulator import deal_next, finish_kyoku
from suphx.games.riichi.table import DORA_POSITIONS, GAME_END, KYOKU_END, OWN_TURN, RON, TABLE, TSUMO, URA_POSITIONS
from suphx.games.riichi.tile import is_five, is_red, kind_of_face, num_red
from suphx.games.riichi.yaku import (
    IS_CHANKAN,
    IS_DOUBLE_RIICHI,
    IS_FIRST_TURN,
    IS_IPPATSU,
    IS_LAST_TILE,
    IS_RIICHI,
    IS_RINSHAN,
    IS_TSUMO,
    base_points,
    pay_win,
)
from suphx.kernel.jit import jit
from suphx.kernel.record import I32, Records


class WonHand(NamedTuple):
    """A winning hand as other engines take it; tiles are ids 0-135."""

    concealed: list[int]
    """With the winning tile, without the melds."""
    win_tile: int
    melds: list[tuple[int, list[int]]]
    """Type (CHI_MELD, …) and tiles."""
    dora_indicators: list[int]
    ura_indicators: list[int]
    """Empty without riichi."""
    circumstances: int
    """Bit set of yaku.py."""
    seat_wind: int
    """Kind 27-30, as is ``round_wind``."""
    round_wind: int


def collect_wins(count: int, *, seed: int = 0) -> Records:
    """Return ``count`` TABLE records of ukeire agents' games, each at the moment when its ``actor`` declares a win."""
    if count < 1:
        raise ValueError(f"count is {count}: collect at least one win")
    if not 0 <= seed <= 2**61:  # far from the largest seed of a wall: one game more for every few wins
        raise ValueError(f"seed is {seed}: use a whole number in 0 … 2**61")
    wins = np.zeros(count, TABLE)
    scratch = np.zeros(1, TABLE)
    apply_rules(scratch, tenhou())
    _collect(scratch, wins, load_suits(), seed, tenhou().start_points)
    return wins


@jit
def _collect(tables: Records, wins: Records, suits: Suits, seed: int, start_points: int) -> None:
    """Fill ``wins``; ``tables`` (1,) is scratch and comes from outside because ``t`` does not keep it alive."""
    t = tables[0]
    n = 0
    while n < len(wins):
        t.wall_seed = seed
        seed += 1
        start_game(t, start_points)
        deal_next(t, suits)
        while t.phase != GAME_END and n < len(wins):
            action = choose_ukeire(t, suits)
            if action in (TSUMO, RON):
                wins[n] = t
                n += 1
            step(t, suits, action)
            if t.phase == KYOKU_END:
                finish_kyoku(t, suits)


@jit
def score_wins(wins: Records, scores: I32) -> None:
    """Fill ``scores``, int32 (n, 3), with han, fu and points of every win: dora, yaku, fu and payment (0, 0 = yakuman).

    Honba, riichi sticks and pao are not in the points.
    """
    deltas = np.zeros(4, np.int32)
    for i in range(len(wins)):
        t = wins[i]
        seat = t.actor
        is_tsumo = t.phase == OWN_TURN
        face = t.drawn if is_tsumo else t.claimed_face
        kind = kind_of_face(face)
        dora = count_dora(t, seat, kind) + count_red(t, seat, face)
        if t.riichi[seat]:
            dora += count_ura(t, seat, kind)
        _, han, fu, yakuman = score_win(t, seat, kind, dora)
        scores[i, 0] = han
        scores[i, 1] = fu
        base = base_points(han, fu, yakuman, t.rule_flags)
        scores[i, 2] = pay_win(seat, seat if is_tsumo else t.turn, dealer_of(t), base, deltas)


def describe_win(t: Any) -> WonHand:
    """Return one record of ``collect_wins`` for other engines."""
    seat = int(t["actor"])
    is_tsumo = t["phase"] == OWN_TURN
    face = int(t["drawn"] if is_tsumo else t["claimed_face"])
    bag = _TileBag()
    win_tile = bag.take_face(face)
    concealed = [win_tile]
    for kind in range(34):
        count = int(t["hand"][seat, kind]) - int(is_tsumo and kind == kind_of_face(face))
        is_drawn = is_tsumo and is_red(face) and kind == kind_of_face(face)
        has_red = num_red(int(t["red"][seat]), kind) > 0 and not is_drawn
        concealed += [bag.take(kind, is_red=has_red and i == 0) for i in range(count)]
    melds = [_describe_meld(t, seat, m, bag) for m in range(int(t["num_melds"][seat]))]
    num_dora = int(t["num_dora"])
    return WonHand(
        concealed=sorted(concealed),
        win_tile=win_tile,
        melds=melds,
        dora_indicators=[int(t["wall"][position]) for position in DORA_POSITIONS[:num_dora]],
        ura_indicators=[int(t["wall"][position]) for position in URA_POSITIONS[:num_dora]] if t["riichi"][seat] else [],
        circumstances=int(circumstances_of(t, seat)),
        seat_wind=27 + (seat - int(t["kyoku"])) % 4,
        round_wind=27 + int(t["kyoku"]) // 4,
    )


def _describe_meld(t: Any, seat: int, m: int, bag: _TileBag) -> tuple[int, list[int]]:
    type_, kind = int(t["meld_type"][seat, m]), int(t["meld_kind"][seat, m])
    kinds = [kind, kind + 1, kind + 2] if type_ == CHI_MELD else [kind] * meld_size(type_)
    is_red_left = bool(t["meld_red"][seat, m])
    ids = []
    for each in kinds:
        is_red = is_red_left and is_five(each)
        is_red_left &= not is_red
        ids.append(bag.take(each, is_red=is_red))
    return type_, sorted(ids)


class _TileBag:
    """Gives every tile of a hand an id of its own."""

    def __init__(self) -> None:
        self._free = {kind: [4 * kind + 3, 4 * kind + 2, 4 * kind + 1, 4 * kind] for kind in range(34)}

    def take_face(self, face: int) -> int:
        return self.take(kind_of_face(face), is_red=is_red(face))

    def take(self, kind: int, *, is_red: bool) -> int:
        """Return a free id; the lowest of the fives is the red one and is kept for it."""
        free = self._free[kind]
        return free.pop() if is_red else free.pop(0)


class PeerScore(NamedTuple):
    """What a winning hand is worth; a yakuman's han and fu are 0, as engines count them in different ways."""

    han: int
    fu: int
    points: int


class MahjongPeer:
    """PyPI ``mahjong``: pure Python, the usual independent scorer."""

    name = "mahjong"

    def __init__(self) -> None:
        hand_calculating = _import("mahjong.hand_calculating.hand")
        self._calculate = hand_calculating.HandCalculator.estimate_hand_value
        self._config = _import("mahjong.hand_calculating.hand_config")
        self._meld = _import("mahjong.meld").Meld
        self._shanten = _import("mahjong.shanten").Shanten.calculate_shanten
        self.version = version("mahjong")

    def prepare_scores(self, wins: Sequence[WonHand]) -> Callable[[], list[Any]]:
        """Return a function that scores all of ``wins``."""
        calculate = self._calculate
        calls = [self._arguments(win) for win in wins]
        return lambda: [calculate(*call[:-1], ura_dora_indicators=call[-1]) for call in calls]

    def read_score(self, result: Any, win: WonHand) -> PeerScore:
        """Return han, fu and points; ValueError for a hand that the engine refuses."""
        if result.error is not None:
            raise ValueError(f"mahjong refuses the hand {win}: {result.error}")
        is_yakuman = any(yaku.is_yakuman for yaku in result.yaku)
        points = int(result.cost["total"])
        return PeerScore(0, 0, points) if is_yakuman else PeerScore(int(result.han), int(result.fu), points)

    def prepare_shanten(self, hands: NDArray[np.int8]) -> Callable[[], list[int]]:
        """Return a function that counts the shanten of all ``hands``."""
        shanten = self._shanten
        counts = [[int(count) for count in hand] for hand in hands]
        return lambda: [shanten(hand) for hand in counts]

    def _arguments(self, win: WonHand) -> tuple[Any, ...]:
        names = {CHI_MELD: "chi", PON_MELD: "pon", ANKAN_MELD: "kan", MINKAN_MELD: "kan", KAKAN_MELD: "shouminkan"}
        melds = [self._meld(names[type_], ids, opened=type_ != ANKAN_MELD) for type_, ids in win.melds]
        tiles = [*win.concealed, *(id_ for _, ids in win.melds for id_ in ids)]
        flags = win.circumstances
        is_tsumo = bool(flags & IS_TSUMO)
        is_last = bool(flags & IS_LAST_TILE) and not flags & IS_RINSHAN  # ours and Tenhou's rule: rinshan goes first
        config = self._config.HandConfig(
            is_tsumo=is_tsumo,
            is_riichi=bool(flags & IS_RIICHI),
            is_daburu_riichi=bool(flags & IS_DOUBLE_RIICHI),
            is_ippatsu=bool(flags & IS_IPPATSU),
            is_rinshan=bool(flags & IS_RINSHAN),
            is_chankan=bool(flags & IS_CHANKAN),
            is_haitei=is_last and is_tsumo,
            is_houtei=is_last and not is_tsumo,
            is_tenhou=bool(flags & IS_FIRST_TURN) and win.seat_wind == 27,
            is_chiihou=bool(flags & IS_FIRST_TURN) and win.seat_wind != 27,
            player_wind=win.seat_wind,
            round_wind=win.round_wind,
            options=self._config.OptionalRules(has_open_tanyao=True, has_aka_dora=True, has_double_yakuman=False),
        )
        return tiles, win.win_tile, melds, win.dora_indicators, config, win.ura_indicators


class RiichiEnvPeer:
    """PyPI ``riichienv``: Rust, driven from Python."""

    name = "riichienv"

    def __init__(self) -> None:
        self._package = _import("riichienv")
        # The package's own wrapper converts the conditions again at every call: its compiled module is faster.
        self._core = _import("riichienv._riichienv")
        self.version = version("riichienv")

    num_planes = 215
    """Planes of its full encoder, float32, without look-ahead."""

    def _start(self, seed: int) -> Any:
        rule = self._package.GameRule.default_tenhou()
        return self._package.RiichiEnv(game_mode="4p-red-half", skip_mjai_logging=True, seed=seed, rule=rule)

    def prepare_encoding(self, num_decisions: int, seed: int) -> Callable[[], int]:
        """Return a call that encodes observations of random games and returns their number."""
        observations: list[Any] = []
        choose = random.Random(seed).random
        while len(observations) < num_decisions:
            env = self._start(seed)
            asked = env.reset()
            while not env.done():
                observations += asked.values()
                asked = env.step(_random_actions(asked, choose))
            seed += 1
        kept = observations[:num_decisions]

        def encode() -> int:
            for observation in kept:
                observation.encode_extended()
            return len(kept)

        return encode

    def play(self, num_hanchans: int, seed: int) -> int:
        """Play hanchans between random agents (Tenhou's rules) and return the number of decisions."""
        choose = random.Random(seed).random
        decisions = 0
        for game in range(num_hanchans):
            env = self._start(seed + game)
            asked = env.reset()
            while not env.done():
                actions = _random_actions(asked, choose)
                decisions += len(actions)
                asked = env.step(actions)
        return decisions

    def prepare_steps(self, num_steps: int, seed: int, *, every_seat: bool = False) -> Callable[[], int]:
        """Return a call that steps one seat at least ``num_steps`` times, and returns how often; all play at random.

        At each step the seat's observation is encoded (74 planes, float32) and its mask made, as a learner needs them.
        With ``every_seat`` the learner has all seats.
        """
        choose = random.Random(seed).random
        seeds = itertools.count(seed)
        env = self._start(next(seeds))
        asked = env.reset()

        def play() -> int:
            nonlocal env, asked
            steps = 0
            while steps < num_steps:
                if env.done():
                    env = self._start(next(seeds))
                    asked = env.reset()
                for seat, observation in asked.items():
                    if every_seat or seat == 0:
                        steps += 1
                        observation.encode()
                        observation.mask()
                asked = env.step(_random_actions(asked, choose))
            return steps

        return play

    def prepare_scores(self, wins: Sequence[WonHand]) -> Callable[[], list[Any]]:
        """Return a function that scores all of ``wins``."""
        evaluator = self._core.HandEvaluator
        calls = [self._arguments(win) for win in wins]
        return lambda: [evaluator(tiles, melds).calc(*rest) for tiles, melds, *rest in calls]

    def read_score(self, result: Any, win: WonHand) -> PeerScore:
        """Return han, fu and points; ValueError for a hand that the engine refuses."""
        if not result.is_win:
            raise ValueError(f"riichienv refuses the hand {win}")
        if win.circumstances & IS_TSUMO:
            is_dealer = win.seat_wind == 27
            points = 3 * result.tsumo_agari_ko if is_dealer else result.tsumo_agari_oya + 2 * result.tsumo_agari_ko
        else:
            points = result.ron_agari
        han, fu = (0, 0) if result.yakuman else (int(result.han), int(result.fu))
        return PeerScore(han, fu, int(points))

    def prepare_shanten(self, hands: NDArray[np.int8]) -> Callable[[], list[int]]:
        """Return a function that counts the shanten of all ``hands``."""
        shanten = self._package.calculate_shanten
        tiles = [[4 * kind + i for kind in range(34) for i in range(int(hand[kind]))] for hand in hands]
        return lambda: [shanten(ids) for ids in tiles]

    def _arguments(self, win: WonHand) -> tuple[Any, ...]:
        kinds = self._core.MeldType
        types = {
            CHI_MELD: kinds.Chi,
            PON_MELD: kinds.Pon,
            ANKAN_MELD: kinds.Ankan,
            MINKAN_MELD: kinds.Daiminkan,
            KAKAN_MELD: kinds.Kakan,
        }
        melds = [self._core.Meld(types[type_], ids, type_ != ANKAN_MELD) for type_, ids in win.melds]
        winds = [self._core.Wind.East, self._core.Wind.South, self._core.Wind.West, self._core.Wind.North]
        flags = win.circumstances
        is_tsumo = bool(flags & IS_TSUMO)
        is_last = bool(flags & IS_LAST_TILE) and not flags & IS_RINSHAN
        conditions = self._core.Conditions(
            tsumo=is_tsumo,
            riichi=bool(flags & (IS_RIICHI | IS_DOUBLE_RIICHI)),
            double_riichi=bool(flags & IS_DOUBLE_RIICHI),
            ippatsu=bool(flags & IS_IPPATSU),
            haitei=is_last and is_tsumo,
            houtei=is_last and not is_tsumo,
            rinshan=bool(flags & IS_RINSHAN),
            chankan=bool(flags & IS_CHANKAN),
            tsumo_first_turn=bool(flags & IS_FIRST_TURN),
            player_wind=winds[win.seat_wind - 27],
            round_wind=winds[win.round_wind - 27],
        )
        return win.concealed, melds, win.win_tile, win.dora_indicators, win.ura_indicators, conditions


HandPeer: TypeAlias = MahjongPeer | RiichiEnvPeer
"""An engine that scores winning hands and counts shanten."""
_HAND_PEERS: dict[str, type[HandPeer]] = {peer.name: peer for peer in (MahjongPeer, RiichiEnvPeer)}
HAND_PEERS = tuple(_HAND_PEERS)


def load_hand_peer(name: str) -> HandPeer:
    """Return the peer ``name``; ValueError for an unknown one or one that is not installed."""
    if name not in _HAND_PEERS:
        raise ValueError(f"{name!r} is not an engine to compare with: use one of {', '.join(HAND_PEERS)}")
    return _HAND_PEERS[name]()


def _random_actions(asked: Mapping[int, Any], choose: Callable[[], float]) -> dict[int, Any]:
    """Return by seat a legal action of riichienv's observation; ``choose``: numbers in [0, 1)."""
    legal = {seat: observation.legal_actions() for seat, observation in asked.items()}
    return {seat: actions[int(choose() * len(actions))] for seat, actions in legal.items()}


def _import(module: str) -> Any:
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        raise ValueError(f"{package} is not installed: run pip install {package}, or leave it out of --peer") from error
