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
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from riichienv import GameRule, Phase, RiichiEnv

from suphx.games.riichi.engine.kyoku import start_kyoku
from suphx.games.riichi.engine.simulator import Simulator
from suphx.games.riichi.hand.suit_table import load_suits
from suphx.games.riichi.records.log.game_recorder import GameRecorder
from suphx.games.riichi.records.mjai.mjai_writer import write_mjai
from suphx.games.riichi.table.action import action_name
from suphx.games.riichi.table.rules import Rules, tenhou
from suphx.games.riichi.table.table import CLAIM, GAME_END, KYOKU_END, ROB_KAN, WIN_RESULT
from tests.games.riichi.builders.staged_wall import MakeWall
from tests.games.riichi.peers.peer_action import number_actions, peer_wall
from tests.games.riichi.peers.peer_divergence import CHANGES_POINTS, accepted_name
from tests.games.riichi.peers.peer_situation import list_end_situations, list_game_situations, list_turn_situations
from tests.games.riichi.peers.peer_state import (
    View,
    our_round,
    our_view,
    our_wins,
    plain_events,
    split_deals,
    their_round,
    their_view,
    their_wins,
)

Play = Callable[[Any, np.random.Generator], int]
"""Chooses a legal action for the actor of a table."""

WINDOWS = (CLAIM, ROB_KAN)
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
        while self._table["phase"] != GAME_END:
            self._deal()
            while self._table["phase"] != KYOKU_END:
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
        if self._table["result"] == WIN_RESULT:
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
        if t["result"] == WIN_RESULT:
            accepted = self._expect("wins", our_wins(t), their_wins(self._wins, int(t["kyoku"])))
        self._pays_alike = accepted not in CHANGES_POINTS
        # After the end of this deal the peer's log has a deal of its own, which ours replaces.
        log = itertools.takewhile(lambda event: event["type"] != "end_kyoku", env.mjai_log)
        self._events.append(plain_events(log) if self._pays_alike else [])
        self._recorder.take_kyokus(_ONLY)
        self._simulator.next_kyoku(_ONLY)
        if self._pays_alike:
            self._expect("end of the game", t["phase"] == GAME_END, env.done())
            if t["phase"] != GAME_END:
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
