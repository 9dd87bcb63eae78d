"""One game played by this engine and by PyPI ``riichienv`` at the same time: same walls, same actions, all compared.

>>> game = PeerGame(tenhou(), GameRule.default_tenhou(), seed=7, play=choose_hastily)
>>> game.play()  # DifferenceError, an AssertionError, at the first thing that is not the same
>>> game.seen["double ron"]

Compared: at every decision who is asked, for what, and the whole table; at the end of a deal its events, winners, yaku,
han, fu, payments and the next deal; at the end of the game scores and places.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from riichienv import ActionType, GameRule, MeldType, Phase, RiichiEnv, get_yaku_by_id

from suphx.games.mahjong.shanten import load_suits
from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, PON_MELD
from suphx.games.riichi import table as codes
from suphx.games.riichi.kyoku import start_kyoku
from suphx.games.riichi.legal import tiles_left
from suphx.games.riichi.records.game_log import RESULT_NAMES
from suphx.games.riichi.records.mjai import write_mjai
from suphx.games.riichi.records.replay import GameRecorder
from suphx.games.riichi.rules import Rules, tenhou
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import action_name
from suphx.games.riichi.tile import RED_IDS, kind_of_face
from suphx.games.riichi.yaku_number import YAKU_NAMES
from suphx.kernel.record import I16
from tests.games.riichi.builders.staged_wall import MakeWall
from tests.games.riichi.peers.peer_divergence import CHANGES_POINTS, FACES, accepted_name

_PLAIN = {
    int(ActionType.RIICHI): codes.RIICHI,
    int(ActionType.TSUMO): codes.TSUMO,
    int(ActionType.KYUSHU_KYUHAI): codes.NINE_TERMINALS,
    int(ActionType.RON): codes.RON,
    int(ActionType.DAIMINKAN): codes.MINKAN,
    int(ActionType.PASS): codes.PASS,
}
_DISCARD, _ANKAN, _KAKAN = int(ActionType.DISCARD), int(ActionType.ANKAN), int(ActionType.KAKAN)
_PON, _CHI = int(ActionType.PON), int(ActionType.CHI)


def peer_wall(wall: I16) -> list[int]:
    """Return a wall (table.py) as the peer wants it: the two tiles of each stack of the dead wall change places."""
    tiles = [int(tile) for tile in wall]
    for i in range(codes.LAST_DRAW, 136, 2):
        tiles[i], tiles[i + 1] = tiles[i + 1], tiles[i]
    return tiles


def action_number(action: Any, drawn: int | None) -> int:
    """Return one of the peer's actions as a number of our action table; ``drawn``: id of the tile just drawn."""
    kind, tile = int(action.action_type), int(action.tile or 0)
    if kind == _DISCARD:
        return codes.TSUMOGIRI if tile == drawn else codes.DISCARD + FACES[tile]
    if kind in _PLAIN:
        return _PLAIN[kind]
    if kind == _ANKAN:
        return codes.ANKAN + tile // 4
    if kind == _KAKAN:
        return codes.KAKAN + tile // 4
    has_red = any(used in RED_IDS for used in action.consume_tiles)
    if kind == _PON:
        return codes.PON_RED if has_red else codes.PON
    if kind == _CHI:
        claimed = tile // 4
        lowest = min(claimed, *(int(used) // 4 for used in action.consume_tiles))
        return (codes.CHI_RED if has_red else codes.CHI) + claimed - lowest
    raise ValueError(f"the peer offers {action.to_dict()}: no action of four players")


def number_actions(actions: Iterable[Any], drawn: int | None) -> dict[int, Any]:
    """Return the peer's legal actions by our numbers; of several tiles that look the same, one."""
    return {action_number(action, drawn): action for action in actions}


def list_turn_situations(t: np.void) -> Iterator[str]:
    """Name what is special about the decision that a table waits for."""
    phase, seat, legal = t["phase"], t["actor"], t["legal"]
    if phase == codes.CLAIM:
        kind = kind_of_face(int(t["claimed_face"]))
        if int(t["waits"][seat]) >> kind & 1 and t["missed_win"][seat]:
            yield f"furiten by a missed win, {'riichi' if t['riichi'][seat] else 'this turn'}"
    if phase == codes.CALL_DISCARD and t["forbidden"] & _held(t, seat):
        yield "kuikae forbids a tile of the hand"
    if phase == codes.OWN_TURN and t["riichi"][seat] and legal[codes.ANKAN : codes.KAKAN].any():
        yield "closed kan after riichi"


def _held(t: np.void, seat: int) -> int:
    return sum(1 << kind for kind in np.flatnonzero(t["hand"][seat]).tolist())


def list_end_situations(t: np.void) -> Iterator[str]:
    """Name how a deal ended, at KYOKU_END."""
    if t["kyoku"] >= 4 * t["num_winds"]:
        yield "deal of the extra wind"
    if t["result"] != codes.WIN_RESULT:
        yield RESULT_NAMES[int(t["result"])]
        if t["result"] == codes.EXHAUSTIVE_DRAW:
            yield f"draw with {int(t['tenpai'].sum())} tenpai"
        return
    yield from _list_win_situations(t)


def _list_win_situations(t: np.void) -> Iterator[str]:
    is_tsumo = t["win_loser"][0] == t["win_seat"][0]
    yield "tsumo" if is_tsumo else "double ron" if t["num_wins"] == 2 else "ron"
    if t["is_stick_due"]:
        yield "ron of a riichi discard"
    if t["kyotaku"] == 0 and t["honba"] > 0:
        yield "win with honba"
    for w in range(t["num_wins"]):
        yield from (YAKU_NAMES[number] for number in range(52) if int(t["win_yaku"][w]) >> number & 1)
        if t["win_ura"][w]:
            yield "ura dora"
        if t["win_yakuman"][w] > 1:
            yield "several yakuman"
        if t["win_liable"][w] >= 0:
            yield f"pao by {'tsumo' if is_tsumo else 'ron'}"


def list_game_situations(t: np.void) -> Iterator[str]:
    """Name how a game ended, at GAME_END (the table still shows its last deal)."""
    yield "game"
    if (t["scores"] < 0).any():
        yield "game ended below zero"
    elif t["kyoku"] >= 4 * t["num_winds"]:
        yield "game ended in the extra wind"
    if len(set(t["scores"].tolist())) < 4:
        yield "places of equal scores"


View = dict[str, Any]

_BETWEEN_DEALS = ("start_game", "end_kyoku", "end_game")
_REASONS = {  # the peer's names of draws: ours
    "exhaustive_draw": "fanpai",
    "kyushu_kyuhai": "kyushukyuhai",
    "sufuurenta": "suufonrenta",
    "suucha_riichi": "suuchareach",
    "suukansansen": "suukaikan",
}

_MELD_TYPES = {
    int(MeldType.Chi): CHI_MELD,
    int(MeldType.Pon): PON_MELD,
    int(MeldType.Daiminkan): MINKAN_MELD,
    int(MeldType.Ankan): ANKAN_MELD,
    int(MeldType.Kakan): KAKAN_MELD,
}


def our_round(t: Any) -> View:
    """Return which deal it is and what everybody has."""
    return {
        "kyoku": int(t["kyoku"]),
        "honba": int(t["honba"]),
        "sticks": int(t["kyotaku"]),
        "scores": t["scores"].tolist(),
    }


def their_round(env: Any) -> View:
    """Return the same by the peer."""
    return {
        "kyoku": 4 * env.round_wind + env.oya,
        "honba": env.honba,
        "sticks": env.riichi_sticks,
        "scores": env.scores(),
    }


def our_view(t: Any) -> View:
    """Return everything that both engines show between two decisions."""
    return our_round(t) | {
        "left": int(tiles_left(t)),
        "dora": [FACES[t["wall"][codes.DORA_POSITIONS[i]]] for i in range(t["num_dora"])],
        "riichi": (t["riichi"] != 0).tolist(),
        "hands": [_our_hand(t["hand"][seat], int(t["red"][seat])) for seat in range(4)],
        "rivers": [t["river"][seat, : t["river_length"][seat]].tolist() for seat in range(4)],
        "melds": [_our_melds(t, seat) for seat in range(4)],
    }


def their_view(env: Any) -> View:
    """Return the same by the peer."""
    return their_round(env) | {
        "left": len(env.wall) - 14,
        "dora": [FACES[tile] for tile in env.dora_indicators],
        "riichi": [a or b for a, b in zip(env.riichi_declared, env.riichi_stage, strict=True)],
        "hands": [sorted(FACES[tile] for tile in hand) for hand in env.hands],
        "rivers": [[FACES[tile] for tile in river] for river in env.discards],
        "melds": [[_their_meld(meld, seat) for meld in melds] for seat, melds in enumerate(env.melds)],
    }


def _our_hand(counts: np.ndarray[Any, Any], red: int) -> list[int]:
    """Return the faces of a hand in order."""
    counts = counts.copy()
    reds = [suit for suit in range(3) if red >> suit & 1]
    for suit in reds:
        counts[9 * suit + 4] -= 1
    return [*np.repeat(np.arange(34), counts).tolist(), *(34 + suit for suit in reds)]


def _our_melds(t: Any, seat: int) -> list[tuple[int, ...]]:
    """Return (type, lowest kind, red fives, claimed face, seat it came from) of every meld."""
    names = ("meld_type", "meld_kind", "meld_red", "meld_tile", "meld_from")
    num_melds = t["num_melds"][seat]
    return list(zip(*(t[name][seat, :num_melds].tolist() for name in names), strict=True))


def _their_meld(meld: Any, seat: int) -> tuple[int, ...]:
    reds = sum(tile in RED_IDS for tile in meld.tiles)
    claimed = -1 if meld.called_tile is None else FACES[meld.called_tile]
    source = seat if meld.from_who < 0 else meld.from_who
    return _MELD_TYPES[int(meld.meld_type)], min(meld.tiles) // 4, reds, claimed, source


def our_wins(t: Any) -> dict[int, View]:
    """Return yaku by Tenhou's numbers (52-54: dora, ura dora, red fives), han and fu of every winner."""
    wins = {}
    for w in range(t["num_wins"]):
        dora = [(52, "win_dora"), (53, "win_ura"), (54, "win_red")]
        yaku = [number for number in range(52) if int(t["win_yaku"][w]) >> number & 1]
        wins[int(t["win_seat"][w])] = {
            "yaku": [*yaku, *(number for number, name in dora if t[name][w] > 0)],
            "han": int(t["win_han"][w]) + 13 * int(t["win_yakuman"][w]),
            "fu": int(t["win_fu"][w]),
        }
    return wins


def their_wins(results: dict[int, Any], kyoku: int) -> dict[int, View]:
    """Return the same of the peer's results."""
    return {
        seat: {
            "yaku": sorted(yaku_number(yaku, (seat - kyoku) % 4, kyoku // 4) for yaku in result.yaku),
            "han": result.han,
            "fu": 0 if result.yakuman else result.fu,
        }
        for seat, result in results.items()
    }


def yaku_number(yaku: int, seat_wind: int, round_wind: int) -> int:
    """Return Tenhou's number; the peer has one number for all seat winds and one for all round winds."""
    number = int(get_yaku_by_id(yaku).tenhou_id)
    return number + (seat_wind if number == 10 else round_wind if number == 14 else 0)


def plain_events(events: Iterable[View]) -> list[View]:
    """Return the mjai events of one deal, or of our whole game, without what a writer is free to choose."""
    return [_plain(event) for event in events if event["type"] not in _BETWEEN_DEALS]


def _plain(event: View) -> View:
    """Sort tiles whose order means nothing; drop what only one writer says; call draws by one name."""
    plain = {key: value for key, value in event.items() if key not in ("tenpais", "tsumo") and value != []}
    if plain["type"] == "ankan":
        plain.pop("pai", None)
    if "consumed" in plain:
        plain["consumed"] = sorted(plain["consumed"])
    if "tehais" in plain:
        plain["tehais"] = [sorted(hand) for hand in plain["tehais"]]
    if "reason" in plain:
        plain["reason"] = _REASONS.get(plain["reason"], plain["reason"])
    return plain


def split_deals(events: list[View]) -> list[list[View]]:
    """Return the events of each deal."""
    starts = [i for i, event in enumerate(events) if event["type"] == "start_kyoku"]
    return [events[a:b] for a, b in itertools.pairwise([*starts, len(events)])]


Play = Callable[[Any, np.random.Generator], int]
"""Chooses a legal action for the actor of a table."""

WINDOWS = (codes.CLAIM, codes.ROB_KAN)
NAMES = ("A", "B", "C", "D")
_ONLY = np.array([0])
_BANKRUPT = [-1_000_000] * 4


class DifferenceError(AssertionError):
    """The two engines do not agree, and nobody has said why."""


class PeerGame:
    """Both engines at one table; ``seen`` counts what happened, "accepted: …" the divergences among it."""

    def __init__(
        self,
        rules: Rules,
        peer_rules: GameRule,
        *,
        seed: int,
        play: Play,
        make_wall: MakeWall | None = None,
        start: View | None = None,
    ) -> None:
        """``make_wall``: the simulator's if None; ``start``: kyoku, honba, sticks and scores instead of the usual."""
        self.seen: Counter[str] = Counter()
        self._seed = seed
        self._rng = np.random.default_rng(seed)
        self._play = play
        self._make_wall = make_wall
        self._simulator = Simulator(1, rules, stops_at_kyoku_end=True)
        self._simulator.reset([seed])
        self._recorder = GameRecorder(self._simulator)
        self._suits = load_suits()
        self._table = self._simulator.tables[0]
        if start is not None:
            self._table["kyoku"], self._table["honba"], self._table["kyotaku"] = (
                start["kyoku"],
                start["honba"],
                start["sticks"],
            )
            self._table["scores"] = start["scores"]
        self._env = RiichiEnv(game_mode="4p-red-east" if rules.num_winds == 1 else "4p-red-half", rule=peer_rules)
        self._observations: dict[int, Any] = {}
        self._events: list[list[View]] = []
        self._pays_alike = True
        self._wins: dict[int, Any] = {}

    def play(self) -> None:
        """Play the game to its end; DifferenceError at the first thing that is not the same."""
        while self._table["phase"] != codes.GAME_END:
            self._deal()
            while self._table["phase"] != codes.KYOKU_END:
                self._decide()
            self._end_deal()
        self._end_game()

    def _deal(self) -> None:
        t = self._table
        if self._make_wall is not None:
            t["wall"] = self._make_wall(self._rng)
        start_kyoku(self._simulator.tables[0], self._suits)
        self._recorder.begin_kyokus(_ONLY)
        now = our_round(t)
        self._observations = self._env.reset(
            oya=now["kyoku"] % 4,
            wall=peer_wall(t["wall"]),
            round_wind=now["kyoku"] // 4,
            scores=now["scores"],
            honba=now["honba"],
            kyotaku=now["sticks"],
        )

    def _decide(self) -> None:
        """Take one own turn, or ask all seats of a claim window."""
        t, env = self._table, self._env
        is_window = t["phase"] in WINDOWS
        self._expect("window", is_window, env.phase == Phase.WaitResponse)
        self._expect("table", our_view(t), their_view(env))
        drawn = env.drawn_tile
        offers = {seat: number_actions(o.legal_actions(), drawn) for seat, o in self._observations.items()}
        answers = {}
        while True:
            seat = int(t["actor"])
            offer = offers.pop(seat, {})
            legal = np.flatnonzero(t["legal"]).tolist()
            self._expect(f"actions of seat {seat}", set(legal), set(offer))
            self.seen.update(list_turn_situations(t))
            action = self._play(t, self._rng)
            answers[seat] = offer[action]
            self._recorder.advance(_ONLY, np.array([action], np.int16))
            if not (is_window and t["phase"] in WINDOWS):
                break
        self._expect("seats asked beside ours", [], list(offers))
        self._answer(answers)

    def _answer(self, answers: dict[int, Any]) -> None:
        if self._table["result"] == codes.WIN_RESULT:
            # The peer forgets a win when it deals again; a game that ends with it keeps it.
            twin = self._env.clone()
            twin.set_scores(_BANKRUPT)
            twin.step(answers)
            self._wins = twin.win_results
        self._observations = self._env.step(answers)

    def _end_deal(self) -> None:
        """Compare how the deal ended and what comes next."""
        t, env = self._table, self._env
        self.seen.update(list_end_situations(t))
        accepted = ""
        if t["result"] == codes.WIN_RESULT:
            accepted = self._expect("wins", our_wins(t), their_wins(self._wins, int(t["kyoku"])))
        self._pays_alike = accepted not in CHANGES_POINTS
        # After the end of this deal the peer's log has a deal of its own, which ours replaces.
        log = itertools.takewhile(lambda event: event["type"] != "end_kyoku", env.mjai_log)
        self._events.append(plain_events(log) if self._pays_alike else [])
        self._recorder.take_kyokus(_ONLY)
        self._simulator.next_kyoku(_ONLY)
        if self._pays_alike:
            self._expect("end of the game", t["phase"] == codes.GAME_END, env.done())
            if t["phase"] != codes.GAME_END:
                self._expect("next deal", our_round(t), their_round(env))

    def _end_game(self) -> None:
        t, env = self._table, self._env
        self.seen.update(list_game_situations(t))
        if self._pays_alike:
            self._expect("final scores", t["scores"].tolist(), env.scores())
            self._expect("places", t["placement"].tolist(), env.ranks())
        # A record cannot say all rules, and the events do not need them.
        log = replace(self._recorder.finish(0, "", NAMES), rules=tenhou())
        deals = split_deals(plain_events(map(json.loads, write_mjai(log).splitlines())))
        for ours, theirs in zip(deals, self._events, strict=True):
            if theirs:
                self._expect("events", ours, theirs)

    def _expect(self, what: str, ours: Any, theirs: Any) -> str:
        """Return "" if both are equal, the name of an accepted divergence, which is counted; else DifferenceError."""
        if ours == theirs:
            return ""
        accepted = accepted_name(what, ours, theirs, self._table)
        if accepted is None:
            t = self._table
            place = f"game {self._seed}, deal {t['num_kyoku']}, decision {t['num_decisions']}"
            raise DifferenceError(
                f"{place}: {what}\n  ours:   {_shown(ours, theirs)}\n  theirs: {_shown(theirs, ours)}"
            )
        self.seen[f"accepted: {accepted}"] += 1
        return accepted


def _shown(value: Any, other: Any) -> str:
    """Return what of ``value`` is not in ``other``: keys of a table, actions, the first event that differs."""
    if isinstance(value, set):
        return ", ".join(map(action_name, sorted(value - other))) or "nothing more"
    if isinstance(value, dict):
        return str({key: item for key, item in value.items() if other.get(key) != item})
    if isinstance(value, list) and value and isinstance(value[0], dict):
        first = next((i for i, (a, b) in enumerate(zip(value, other, strict=False)) if a != b), len(other))
        return f"event {first}: {value[max(0, first - 2) : first + 4]}"
    return str(value)
