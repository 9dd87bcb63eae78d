"""One game of a person at one seat with agents at the three others: whose turn it is, what may be done, what is seen.

>>> session = GameSession(agent.act, seat=0, seed=7, rules=tenhou(), names=("You", "A", "B", "C"), game_id="play-1")
>>> while session.is_agents_turn:
...     steps = session.play_agent()
>>> session.move(session.number, session.view()["moves"][0]["action"])
>>> session.log()  # when session.is_over

A session that was broken off goes on in a new one with the same seat, seed and rules, and its ``actions``.

Everything that ``view``, ``play_agent`` and ``move`` return is what the person may know, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suphx.games.riichi.ending import end_kyoku
from suphx.games.riichi.records.decisions import NO_ACTION, SEATS, same_move, viewer_decision, viewer_move
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.replay import GameRecorder
from suphx.games.riichi.records.viewer_game import UNKNOWN, State, ViewerSteps, viewer_result
from suphx.games.riichi.rules import Rules
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import GAME_END, KYOKU_END, RIICHI, TSUMOGIRI, action_name
from suphx.kernel.record import I16, I64, Records

ONLY_TABLE = np.zeros(1, np.int64)


def offered_moves(tables: Records, rules: Rules) -> list[dict[str, Any]]:
    """Return the legal moves of the actor of the only table (1,), which waits for it.

    ``[{"action", "move", "faces", "is_drawn", "discards"}]``: ``move`` and ``faces`` as in ``viewer_move``;
    ``is_drawn``: the discard of the tile just drawn; ``discards``: actions of the discards that may follow a riichi.
    """
    table = tables[0]
    moves = []
    for action in np.flatnonzero(table["legal"]).tolist():
        discards = legal_actions(after_riichi(tables, rules)) if action == RIICHI else []
        move = viewer_move(table, action)
        moves.append({"action": action, **move, "is_drawn": action == TSUMOGIRI, "discards": discards})
    return moves


def after_riichi(tables: Records, rules: Rules) -> Records:
    """Return a copy of the only table (1,) at which the actor has declared riichi and has to discard."""
    simulator = Simulator(1, rules, stops_at_kyoku_end=True)
    simulator.tables[:] = tables
    simulator.advance(ONLY_TABLE, np.array([RIICHI], np.int16))
    return simulator.tables


def legal_actions(tables: Records) -> list[int]:
    """Return the legal actions of the actor of the only table (1,)."""
    return [int(action) for action in np.flatnonzero(tables[0]["legal"])]


def move_hint(table: Any, action: int, probabilities: NDArray[np.float32]) -> dict[str, Any]:
    """Return what an agent would do at a TABLE record, and how probable each move is to it.

    ``{"moves": [{"move", "faces", "p"}], "agent", "best"}``: the first two as in ``viewer_decision``; ``best``: all
    actions that are the agent's move. ``action``: its choice, or NO_ACTION; ``probabilities`` float32 (NUM_ACTIONS,),
    NaN for none.
    """
    legal = np.flatnonzero(table["legal"]).tolist()
    decision = viewer_decision(table, legal[0], is_known=False, opinion=action, probabilities=probabilities)
    has_answer = action != NO_ACTION
    best = [each for each in legal if has_answer and same_move(table, each) == same_move(table, action)]
    return {"moves": decision["moves"], "agent": decision["agent"], "best": best}


def seen_state(state: State, seat: int) -> State:
    """Return the state with UNKNOWN in place of each tile that ``seat`` (0-3) cannot see, and without others' waits.

    Hands that are shown at the end of a deal (``open``) stay.
    """
    hidden = [other for other in range(SEATS) if other != seat and other not in state["open"]]
    seen = dict(state)
    for other in hidden:
        seen[f"hand{other}"] = [UNKNOWN] * len(state[f"hand{other}"])
        seen[f"waits{other}"] = []
    seen["drawn"] = [[owner, UNKNOWN if owner in hidden else face] for owner, face in state["drawn"]]
    return seen


Act = Callable[[Records, I64], I16]
"""Tables and the indices of those that wait -> a legal action for each (``Agent.act``)."""
Step = dict[str, Any]
"""``{"kind", "seat", "faces", "changes"}``: what happened, and the keys of the state that it changes."""


class RefusedMoveError(ValueError):
    """A move of the person that is not possible now; the game is as before."""


class GameSession:
    """Consumes: moves of the person and of ``act``. Produces: steps, views, and at the end the log of the game.

    Waits for: ``play_agent`` while ``is_agents_turn``; ``move`` while ``is_persons_turn``; ``next_deal`` between deals.
    """

    def __init__(
        self,
        act: Act,
        *,
        seat: int,
        seed: int,
        rules: Rules,
        names: tuple[str, str, str, str],
        game_id: str,
        actions: Sequence[int] = (),
    ) -> None:
        """``act`` answers for the seats other than ``seat`` (0-3); ``seed`` is that of the walls.

        ``actions``: those of a session that was broken off. ValueError for another seat or seed, or an illegal action.
        """
        if not 0 <= seat < SEATS:
            raise ValueError(f"seat is {seat}: use 0 to {SEATS - 1}")
        self.seat = seat
        self.seed = seed
        self.names = names
        self.id = game_id
        self.actions: list[int] = []  # all that were made at the table, of every seat
        self.number = 0  # counts the person's moves: one that was offered before the last of them is refused
        self._act = act
        self._rules = rules
        self._simulator = Simulator(1, rules, stops_at_kyoku_end=True)
        self._simulator.reset([seed])
        self.recorder = GameRecorder(self._simulator)  # agents that follow whole games need it
        self._finished: list[dict[str, Any]] = []
        self._log: GameLog | None = None
        self._begin_deal()
        for number, action in enumerate(actions):
            if self.is_between_deals:
                self._next_deal()
            if action not in legal_actions(self._simulator.tables):
                raise ValueError(f"action {number} of the game, {action}, is not legal: it was made by other rules")
            self._apply(action)

    @property
    def is_over(self) -> bool:
        """Tell whether the game has ended."""
        return self._log is not None

    @property
    def is_between_deals(self) -> bool:
        """Tell whether a deal has ended and the next one waits for ``next_deal``."""
        return bool(self._table["phase"] == KYOKU_END)

    @property
    def is_persons_turn(self) -> bool:
        """Tell whether the person has to choose a move."""
        table = self._table
        # In riichi there may be nothing to choose but the discard of what was drawn.
        is_forced = table["num_legal"] == 1 and table["legal"][TSUMOGIRI] == 1 and table["riichi"][self.seat]
        return self._is_waiting and table["actor"] == self.seat and not is_forced

    @property
    def is_agents_turn(self) -> bool:
        """Tell whether the game continues without the person: an agent decides, or a riichi hand has one move only."""
        return self._is_waiting and not self.is_persons_turn

    def play_agent(self) -> list[Step]:
        """Make the next decision that is not the person's; return the steps that came of it, perhaps none."""
        if not self.is_agents_turn:
            raise ValueError("no agent has to decide: check is_agents_turn")
        tables = self._simulator.tables
        is_own = tables[0]["actor"] == self.seat
        return self._apply(TSUMOGIRI if is_own else int(self._act(tables, ONLY_TABLE)[0]))

    def move(self, number: int, action: int, discard: int | None = None) -> list[Step]:
        """Make the person's move and return its steps; ``discard``: the action of the discard after a riichi.

        ``number`` is that of the view that offered the move. RefusedMoveError if the move is not possible now.
        """
        self._check_turn(number, is_turn=self.is_persons_turn)
        self._check_legal(self._simulator.tables, action)
        if action == RIICHI:
            if discard is None:
                raise RefusedMoveError("riichi needs a discard: choose a tile that keeps the hand ready")
            self._check_legal(after_riichi(self._simulator.tables, self._rules), discard)
        elif discard is not None:
            raise RefusedMoveError(f"{action_name(action)} takes no discard: send it alone")
        self.number += 1
        steps = self._apply(action)
        return steps if discard is None else steps + self._apply(discard)

    def next_deal(self, number: int) -> None:
        """Deal the next hands; RefusedMoveError unless a deal has just ended."""
        self._check_turn(number, is_turn=self.is_between_deals)
        self.number += 1
        self._next_deal()

    def view(self) -> dict[str, Any]:
        """Return everything that the person sees now, as plain values for JSON.

        ``{"id", "seat", "names", "number", "deal": {"kyoku", "honba", "sticks", "dealer", "scores", "after", "result"},
        "state", "moves", "finished": [deal], "is_over", "final", "placement"}``. ``state``: viewer_game.py, with
        UNKNOWN for what is hidden; ``moves``: ``offered_moves`` on the person's turn, else []; ``after`` and ``result``
        (``viewer_result``) are None while a deal is running; ``finished``: earlier deals.
        """
        final, placement = (self._table[key].tolist() if self.is_over else None for key in ("scores", "placement"))
        return {
            "id": self.id,
            "seat": self.seat,
            "names": list(self.names),
            "number": self.number,
            "deal": self._deal,
            "state": self._steps.shown,
            "moves": offered_moves(self._simulator.tables, self._rules) if self.is_persons_turn else [],
            "finished": list(self._finished),
            "is_over": self.is_over,
            "final": final,
            "placement": placement,
        }

    def decision(self, number: int) -> Records:
        """Return a copy of the table (1,) at which the person has to decide, hidden tiles included: for a hint.

        RefusedMoveError if it is not the person's turn.
        """
        self._check_turn(number, is_turn=self.is_persons_turn)
        return self._simulator.tables.copy()

    def log(self) -> GameLog:
        """Return the record of the game; ValueError while it is running."""
        if self._log is None:
            raise ValueError("the game is not over: play on")
        return self._log

    @property
    def _table(self) -> Any:
        return self._simulator.tables[0]

    @property
    def _is_waiting(self) -> bool:
        return bool(self._table["num_legal"])

    def _check_turn(self, number: int, *, is_turn: bool) -> None:
        if number != self.number:
            raise RefusedMoveError("this move belongs to an earlier moment of the game: choose one that is offered now")
        if not is_turn:
            raise RefusedMoveError("it is not your turn: wait for the other players")

    def _check_legal(self, tables: Records, action: int) -> None:
        if action not in legal_actions(tables):
            raise RefusedMoveError(f"{action_name(action)} is not legal now: choose one of the moves that are offered")

    def _next_deal(self) -> None:
        self._simulator.next_kyoku(ONLY_TABLE)
        self._begin_deal()

    def _begin_deal(self) -> None:
        table = self._table
        self.recorder.begin_kyokus(ONLY_TABLE)
        self._deal: dict[str, Any] = {
            **{key: int(table[name]) for key, name in _DEAL_COLUMNS},
            "dealer": int(table["kyoku"]) % SEATS,
            "scores": table["scores"].tolist(),
            "after": None,
            "result": None,
        }
        self._steps = ViewerSteps(table, self._rules.red_bits, partial(seen_state, seat=self.seat))

    def _apply(self, action: int) -> list[Step]:
        phase = int(self._table["phase"])
        first = len(self._steps.steps)
        self.recorder.advance(ONLY_TABLE, np.array([action], np.int16))
        self.actions.append(action)
        self._steps.follow(self._table, action, phase)
        if self.is_between_deals:
            after = self._simulator.tables.copy()
            end_kyoku(after[0])
            result = viewer_result(self._table, self._rules.red_bits)
            self._deal |= {"result": result, "after": after[0]["scores"].tolist()}
            self._finished.append(self._deal)
            self.recorder.take_kyokus(ONLY_TABLE)
            if after[0]["phase"] == GAME_END:
                self._simulator.next_kyoku(ONLY_TABLE)
                self._log = self.recorder.finish(0, self.id, self.names)
        return [{key: step[key] for key in _STEP_KEYS} for step in self._steps.steps[first:]]


_DEAL_COLUMNS = (("kyoku", "kyoku"), ("honba", "honba"), ("sticks", "kyotaku"))
_STEP_KEYS = ("kind", "seat", "faces", "changes")
