"""How fast the rules are beside other people's engines, in turn in one process, each as fast as its interface allows.

``python benchmarks/engines.py simulator --peer riichienv``: random hanchans; ``features --peer riichienv``: encoded
decisions; ``hands --peer mahjong riichienv``: scored wins and shanten, and how many results differ from ours;
``doudizhu --peer douzero rlcard``: random games, and decisions of nets. Everything runs on one thread. Whatever the
timed functions need is made before the clock starts. The engines are in the extra ``peers``.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import random
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from suphx.games.doudizhu.bots import play_scripted
from suphx.games.doudizhu.selfplay import DouDizhuTables
from suphx.games.doudizhu.table import Rules
from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, PON_MELD, meld_size
from suphx.games.registry import candidate_game
from suphx.games.riichi.benchmark import collect_wins, played_positions, score_wins
from suphx.games.riichi.bots import play_random
from suphx.games.riichi.legal import circumstances_of
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.shanten import count_shanten
from suphx.games.riichi.table import DORA_POSITIONS, OWN_TURN, URA_POSITIONS
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
)
from suphx.models.device import torch_threads
from suphx.selfplay.agents.net_agent import NetAgent
from suphx.training.monte_carlo import new_nets
from suphx_platform.bench.riichi import FULL, compare_rates, encoding, random_hands

OURS = "suphx"
GAMES_A_CALL = 1_000
STEPS_A_CALL = 20
DECK = sorted([rank for rank in (*range(3, 15), 17) for _ in range(4)] + [20, 30])
"""Cards as DouZero numbers them: 3 to 14, 17 = a two, 20 and 30 = the jokers."""
Call = Callable[[], int]
"""Does something and returns how often."""


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
        hand_calculating = importlib.import_module("mahjong.hand_calculating.hand")
        self._calculate = hand_calculating.HandCalculator.estimate_hand_value
        self._config = importlib.import_module("mahjong.hand_calculating.hand_config")
        self._meld = importlib.import_module("mahjong.meld").Meld
        self._shanten = importlib.import_module("mahjong.shanten").Shanten.calculate_shanten

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
        self._package = importlib.import_module("riichienv")
        # The package's own wrapper converts the conditions again at every call: its compiled module is faster.
        self._core = importlib.import_module("riichienv._riichienv")

    num_planes = 215
    """Planes of its full encoder, float32, without look-ahead."""

    def _start(self, seed: int) -> Any:
        rule = self._package.GameRule.default_tenhou()
        return self._package.RiichiEnv(game_mode="4p-red-half", skip_mjai_logging=True, seed=seed, rule=rule)

    def prepare_encoding(self, num_decisions: int, seed: int) -> Call:
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

    def prepare_steps(self, num_steps: int, seed: int, *, every_seat: bool = False) -> Call:
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


def _random_actions(asked: Mapping[int, Any], choose: Callable[[], float]) -> dict[int, Any]:
    """Return by seat a legal action of riichienv's observation; ``choose``: numbers in [0, 1)."""
    legal = {seat: observation.legal_actions() for seat, observation in asked.items()}
    return {seat: actions[int(choose() * len(actions))] for seat, actions in legal.items()}


class DouZeroPeer:
    """PyPI ``douzero``: its game, and the loop of its actors with its nets, which have as many weights as ours."""

    name = "douzero"

    def __init__(self) -> None:
        self._game = importlib.import_module("douzero.env.game")
        self._agent = importlib.import_module("douzero.evaluation.random_agent")

    def random_games(self, seed: int) -> Call:
        """Return a call that plays a game of its random agents."""
        names = ("landlord", "landlord_up", "landlord_down")
        shuffle = random.Random(seed).shuffle

        def play() -> int:
            deck = list(DECK)
            shuffle(deck)
            game = self._game.GameEnv({name: self._agent.RandomAgent() for name in names})
            hands = {"landlord": deck[:20], "landlord_up": deck[20:37], "landlord_down": deck[37:]}
            sorted_hands = {name: sorted(hand) for name, hand in hands.items()}
            game.card_play_init({**sorted_hands, "three_landlord_cards": sorted(deck[17:20])})
            while not game.game_over:
                game.step()
            return 1

        return play

    def net_decisions(self, seed: int) -> Call:
        """Return a call that plays some moves as its actors do: one table, the nets asked move by move."""
        np.random.seed(seed)  # its decks come from numpy's own state
        model = importlib.import_module("douzero.dmc.models").Model("cpu")
        model.eval()
        env = importlib.import_module("douzero.dmc.env_utils").Environment(
            importlib.import_module("douzero.env").Env("wp"), "cpu"
        )
        state = env.initial()[:2]

        def play() -> int:
            nonlocal state
            for _ in range(STEPS_A_CALL):
                position, seen = state
                with torch.no_grad():
                    chosen = model.forward(position, seen["z_batch"], seen["x_batch"])["action"]
                state = env.step(seen["legal_actions"][int(chosen)])[:2]
            return STEPS_A_CALL

        return play


class RlCardPeer:
    """PyPI ``rlcard``: its game, without its environment, which encodes what a net would see at every move."""

    name = "rlcard"

    def __init__(self) -> None:
        self._game = importlib.import_module("rlcard.games.doudizhu")

    def random_games(self, seed: int) -> Call:
        """Return a call that plays a game in which one of the legal moves that it lists is played at random."""
        game = self._game.Game()
        game.np_random = np.random.RandomState(seed)
        choice = random.Random(seed).choice

        def play() -> int:
            state, _ = game.init_game()
            while not game.is_over():
                state, _ = game.step(choice(state["actions"]))
            return 1

        return play


def random_games(seed: int) -> Call:
    """Return a call that plays random games of DouDizhu."""

    def play() -> int:
        play_scripted(GAMES_A_CALL, Rules(), seed=seed)
        return GAMES_A_CALL

    return play


def net_decisions(num_tables: int, seed: int) -> Call:
    """Return a call that plays games of nets and returns the number of moves."""
    tables, everything = DouDizhuTables(num_tables, Rules()), np.arange(num_tables)
    game = candidate_game("doudizhu")
    agent = NetAgent("nets", new_nets(game, seed).nets, game.learning.encoders[0], rules=Rules())

    def play() -> int:
        tables.begin(everything, range(seed, seed + num_tables))
        while (waiting := tables.waiting()).size:
            tables.advance(waiting, agent.act(tables, waiting))
        return int(tables.tables["num_moves"].sum())

    return play


HAND_PEERS: dict[str, type[MahjongPeer | RiichiEnvPeer]] = {"mahjong": MahjongPeer, "riichienv": RiichiEnvPeer}


def simulator_rates(args: argparse.Namespace) -> dict[str, Any]:
    """Return random hanchans a second."""

    def play_ours() -> int:
        return len(play_random(args.number, tenhou(), seed=args.seed).decisions)

    def play_peer() -> int:
        peer.play(args.number, args.seed)
        return int(args.number)

    calls = {OURS: play_ours}
    if args.peer:
        peer = RiichiEnvPeer()
        calls[peer.name] = play_peer
    return {"hanchans": compared(calls, args.seconds)}


def features_rates(args: argparse.Namespace) -> dict[str, Any]:
    """Return encoded decisions a second; the peer encodes observations of random games, without look-ahead."""
    calls = {OURS: encoding(FULL, played_positions(args.number, args.seed), 1)}
    if args.peer:
        calls["riichienv"] = RiichiEnvPeer().prepare_encoding(args.number, args.seed)
    return {"decisions": compared(calls, args.seconds)}


def hands_rates(args: argparse.Namespace) -> dict[str, Any]:
    """Return wins scored and shanten counted a second, and how many results of each peer differ from ours."""
    tables, hands = collect_wins(args.number, seed=args.seed), random_hands(args.number, seed=args.seed)
    results = np.zeros((args.number, 3), np.int32)

    def score() -> int:
        score_wins(tables, results)
        return int(args.number)

    score()
    scores = [PeerScore(*row) for row in results.tolist()]
    shantens, wins = count_shanten(hands).tolist(), [describe_win(table) for table in tables]
    scoring, counting = {OURS: score}, {OURS: lambda: len(count_shanten(hands))}
    mismatches = {}
    for name in args.peer:
        peer = HAND_PEERS[name]()
        score_theirs, count_theirs = peer.prepare_scores(wins), peer.prepare_shanten(hands)
        read = [peer.read_score(result, win) for result, win in zip(score_theirs(), wins, strict=True)]
        differ = zip([*scores, *shantens], [*read, *count_theirs()], strict=True)
        mismatches[name] = sum(ours != theirs for ours, theirs in differ)
        scoring[name], counting[name] = counted(score_theirs), counted(count_theirs)
    return {
        "scores": compared(scoring, args.seconds),
        "shanten": compared(counting, args.seconds),
        "mismatches": mismatches,
    }


def counted(call: Callable[[], Sequence[object]]) -> Call:
    """Return a call that returns how many results ``call`` has."""
    return lambda: len(call())


def doudizhu_rates(args: argparse.Namespace) -> dict[str, Any]:
    """Return random games a second, and decisions of three nets with their first weights."""
    games, nets = {OURS: random_games(args.seed)}, {OURS: net_decisions(args.tables, args.seed)}
    if "rlcard" in args.peer:  # it has no nets of DouZero's size
        games["rlcard"] = RlCardPeer().random_games(args.seed)
    if "douzero" in args.peer:
        douzero = DouZeroPeer()
        games["douzero"], nets["douzero"] = douzero.random_games(args.seed), douzero.net_decisions(args.seed)
    return {"games": compared(games, args.seconds), "net_decisions": compared(nets, args.seconds)}


def compared(calls: Mapping[str, Call], seconds: float) -> dict[str, dict[str, float]]:
    """Return the rate of each engine, and ours over that of each peer."""
    for warm_up in calls.values():
        warm_up()
    rates = compare_rates(calls, seconds=seconds)
    return {"per_second": rates, "ratios": {name: rates[OURS] / rate for name, rate in rates.items() if name != OURS}}


PEERS = {
    "simulator": (simulator_rates, ("riichienv",), 300),
    "features": (features_rates, ("riichienv",), 20_000),
    "hands": (hands_rates, tuple(HAND_PEERS), 5_000),
    "doudizhu": (doudizhu_rates, ("douzero", "rlcard"), 0),
}
"""Subject -> what measures it, the engines that it can be compared with, and how much is done at a time."""


def main() -> None:
    """Measure and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("subject", choices=PEERS)
    parser.add_argument("--peer", nargs="+", default=[], help="engines to compare with")
    parser.add_argument("--number", type=int, help="hanchans, decisions or hands that are made at a time")
    parser.add_argument("--tables", type=int, default=256, help="games of nets of DouDizhu at a time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each engine in each of 3 rounds")
    args = parser.parse_args()
    measure, peers, number = PEERS[args.subject]
    args.number = args.number or number
    if unknown := set(args.peer) - set(peers):
        parser.error(f"{args.subject} is not compared with {', '.join(unknown)}: use {', '.join(peers)}")
    with torch_threads(1):
        values = measure(args)
    versions = {name: version(name) for name in args.peer}
    print(json.dumps({"subject": args.subject, "seed": args.seed, **values, "versions": versions}, indent=2))


if __name__ == "__main__":
    main()
