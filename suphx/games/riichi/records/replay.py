"""Play a recorded game through the rules engine: every move must be legal, every draw, win and payment the same.

A record shows no passes. A seat that had a choice and has no move in the record passed; a seat whose wish may have been
overruled (a pon while somebody won, a chi while somebody else called pon) has no known answer: ``is_action_known``.

A GameRecorder writes down the games of a Simulator: tables become GameLogs, for mjlog, mjai, statistics and the replay.

>>> simulator = Simulator(256, rules, stops_at_kyoku_end=True)
>>> recorder = GameRecorder(simulator)
>>> recorder.begin_kyokus(indices)  # after simulator.reset and simulator.next_kyoku
>>> recorder.advance(indices, actions)  # instead of simulator.advance
>>> recorder.take_kyokus(simulator.at_kyoku_end())  # before simulator.next_kyoku
>>> log = recorder.finish(table_index, "game-1", names)  # at GAME_END
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from suphx.games.mahjong.shanten import Suits, load_suits
from suphx.games.riichi import table as codes
from suphx.games.riichi.ending import end_kyoku
from suphx.games.riichi.kyoku import start_kyoku, step
from suphx.games.riichi.records.game_log import ACTION_BITS, GameLog, KyokuLog, empty_result
from suphx.games.riichi.records.quarantine import MissingFact
from suphx.games.riichi.rules import apply_rules
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import TABLE, Table, action_name, is_undrawn
from suphx.games.riichi.tile import NUM_TILES, dora_of_indicator, kind_of_face
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I16, I64, U8, U16, Records

# cursor: int64 (4,) = next move, bit set of absent seats, bit set of seats asked in this window, draws seen
NEXT, ABSENT, ASKED, DRAWS = range(4)
NO_MOVE = -1

_ACTION_MASK = (1 << ACTION_BITS) - 1

# how a replay ended
_SAME, _ILLEGAL, _TOO_SHORT, _TOO_LONG, _NOT_ASKED, _OTHER_DRAW = range(6)


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where a record and the rules engine disagree."""

    id: str
    kyoku: int
    """Index of the deal in the record, from 0."""
    step: int
    """Number of decisions of this deal before it."""
    what: str


@jit
def recorded_action(t: Table, moves: U16, result: int, cursor: I64) -> int:
    """Return what the actor of ``t`` did by the record, or NO_MOVE when the record has another seat's move here."""
    n = len(moves)
    _skip_marks(moves, cursor)
    i = cursor[NEXT]
    if t.phase != codes.CLAIM and t.phase != codes.ROB_KAN:
        if i >= n or moves[i] >> ACTION_BITS != t.actor:
            return NO_MOVE
        return moves[i] & _ACTION_MASK
    if i >= n:
        return codes.RON if result == codes.TRIPLE_RON_DRAW else codes.PASS
    while i < n:
        action = moves[i] & _ACTION_MASK
        if not codes.RON <= action < codes.PASS:
            break
        if moves[i] >> ACTION_BITS == t.actor:
            return action
        i += 1
    return codes.PASS


@jit
def _skip_marks(moves: U16, cursor: I64) -> None:
    """Apply the LEAVE and RETURN marks that stand before the next move."""
    while cursor[NEXT] < len(moves):
        action = moves[cursor[NEXT]] & _ACTION_MASK
        seat = moves[cursor[NEXT]] >> ACTION_BITS
        if action == codes.LEAVE:
            cursor[ABSENT] |= 1 << seat
        elif action == codes.RETURN:
            cursor[ABSENT] &= ~(1 << seat)
        else:
            return
        cursor[NEXT] += 1


@jit
def is_action_known(t: Table, moves: U16, cursor: I64) -> bool:
    """Tell whether the PASS of the actor in a claim window is its own wish: no claim of another seat hides it."""
    i = cursor[NEXT]
    if i >= len(moves):
        return True
    action = moves[i] & _ACTION_MASK
    return not (codes.RON <= action <= codes.MINKAN) or moves[i] >> ACTION_BITS == t.actor


@jit
def is_legal_move(t: Table, action: int) -> bool:
    """Tell whether a recorded ``action``, or NO_MOVE, is one that the actor of ``t`` may take."""
    return NO_MOVE < action <= codes.PASS and t.legal[action] != 0


@jit
def follow(t: Table, suits: Suits, moves: U16, cursor: I64, action: int) -> bool:
    """Apply the recorded ``action`` and move the cursor; False when a recorded claim was never possible."""
    was_window = t.phase == codes.CLAIM or t.phase == codes.ROB_KAN
    if not was_window:
        cursor[NEXT] += 1
        cursor[ASKED] = 0
        step(t, suits, action)
        return True
    cursor[ASKED] |= 1 << t.actor
    step(t, suits, action)
    if t.phase == codes.CLAIM or t.phase == codes.ROB_KAN:
        return True
    # The window has closed: its claims are used up.
    while cursor[NEXT] < len(moves):
        claim = moves[cursor[NEXT]] & _ACTION_MASK
        if not (claim == codes.RON or codes.PON <= claim < codes.PASS):
            return True
        if not cursor[ASKED] >> (moves[cursor[NEXT]] >> ACTION_BITS) & 1:
            return False
        cursor[NEXT] += 1
        if claim != codes.RON:
            return True
    return True


@jit
def _drawn_id(t: Table) -> int:
    if t.is_rinshan:
        return t.wall[codes.RINSHAN[t.num_kans - 1]]
    return t.wall[t.next_draw - 1]


@jit
def _replay_kyoku(t: Table, suits: Suits, moves: U16, draws: U8, result: int, cursor: I64) -> int:
    """Replay one deal from its wall; return one of the codes above, the table standing where it stopped."""
    cursor[:] = 0
    start_kyoku(t, suits)
    while t.phase != codes.KYOKU_END:
        if t.phase == codes.OWN_TURN:
            if len(draws) > 0 and (cursor[DRAWS] >= len(draws) or draws[cursor[DRAWS]] != _drawn_id(t)):
                return _OTHER_DRAW
            cursor[DRAWS] += 1
        action = recorded_action(t, moves, result, cursor)
        if action == NO_MOVE:
            return _TOO_SHORT
        if not is_legal_move(t, action):
            return _ILLEGAL
        if not follow(t, suits, moves, cursor, action):
            return _NOT_ASKED
    _skip_marks(moves, cursor)
    return _SAME if cursor[NEXT] == len(moves) else _TOO_LONG


def place_deal(tables: Records, log: KyokuLog) -> None:
    """Put the wall and the start of a deal on ``tables`` (1,), for ``start_kyoku``."""
    for name in ("kyoku", "honba", "kyotaku", "scores", "wall"):
        tables[0][name] = getattr(log, name)
    tables[0]["num_decisions"] = 0


class Replayer:
    """Replays games one after another on one table.

    >>> replayer = Replayer()
    >>> differences = replayer.replay(game)
    """

    def __init__(self) -> None:
        self._suits = load_suits()
        self._tables = np.zeros(1, TABLE)
        self._table: Any = self._tables[0]
        self._cursor = np.zeros(4, np.int64)
        self.num_decisions = 0
        """Of the last game, like the numbers of draws."""
        self.num_draws_checked = 0
        """Draws compared with a wall that came from a shuffle seed."""
        self.num_draws_unchecked = 0
        """Draws of kyoku without such a wall."""

    def replay(self, game: GameLog) -> list[Difference]:
        """Return the first difference of every deal of ``game``, and those between deals; empty when all agrees."""
        apply_rules(self._tables, game.rules)
        found: list[Difference] = []
        self.num_decisions = self.num_draws_checked = self.num_draws_unchecked = 0
        for index, log in enumerate(game.kyokus):
            what = self._replay_kyoku(log)
            if what is None:
                following = game.kyokus[index + 1] if index + 1 < len(game.kyokus) else None
                what = self._compare_end(game, following)
            if what is not None:
                found.append(Difference(game.id, index, int(self._table["num_decisions"]), what))
        return found

    def find_ura(self, game: GameLog) -> None:
        """Put tiles that agree with the recorded payments where the record does not show the ura dora indicators.

        Many do, so that they are not shown to anybody (``is_ura_known``). ``replay`` reports a deal for which none do.
        """
        apply_rules(self._tables, game.rules)
        for log in game.kyokus:
            if not log.is_ura_known and self._play(log) == _SAME:
                for wall in self._walls_of_ura(log.wall):
                    log.wall = wall
                    if self._play(log) == _SAME and not compare_results(self._table, log.result, False):
                        break

    def complete(self, game: GameLog) -> None:
        """Write the han, fu and yaku of wins by the rules where the record has none (mjai), or not all (tenhou6).

        ValueError for a deal that differs from the rules, or whose ura dora indicators are not known.
        """
        apply_rules(self._tables, game.rules)
        for index, log in enumerate(game.kyokus):
            if is_result_whole(log):
                continue
            if not log.is_ura_known:
                raise MissingFact(f"deal {index + 1} has no ura dora indicators, from which han and yaku follow")
            what = self._replay_kyoku(log)
            if what is not None:
                raise ValueError(f"deal {index + 1} has no han, fu and yaku, and differs from the rules: {what}")
            copy_result(self._table, log.result)
            log.is_result_complete = True

    def _walls_of_ura(self, wall: U8) -> Iterator[U8]:
        """Yield ``wall`` with undrawn tiles as ura dora indicators, once for each number of ura dora of the winners.

        The table must stand at the end of the deal.
        """
        next_draw, num_dora = int(self._table["next_draw"]), int(self._table["num_dora"])
        free = [place for place in range(next_draw, NUM_TILES) if is_undrawn(self._tables[0], place)]
        doras = {place: self._doras_of(int(wall[place])) for place in free}
        places_of: dict[tuple[int, ...], list[int]] = {(0, 0, 0): []}
        for _ in range(num_dora):
            longer: dict[tuple[int, ...], list[int]] = {}
            for total, places in places_of.items():
                for place in free:
                    if place not in places:
                        doras_so_far = tuple(a + b for a, b in zip(total, doras[place], strict=True))
                        longer.setdefault(doras_so_far, [*places, place])
            places_of = longer
        for _, places in sorted(places_of.items()):
            ura = list(codes.URA_POSITIONS[:num_dora])
            others = [place for place in free if place not in places]
            changed = wall.copy()
            changed[ura + [place for place in free if place not in ura]] = wall[places + others]
            yield changed

    def _doras_of(self, indicator: int) -> tuple[int, ...]:
        """Return how many ura dora each of up to three winners has by an indicator."""
        table, kind = self._table, dora_of_indicator(indicator >> 2)
        counts = [0, 0, 0]
        for w in range(int(table["num_wins"])):
            seat = int(table["win_seat"][w])
            if table["riichi"][seat]:
                counts[w] = int(table["hand"][seat, kind])
                counts[w] += table["win_loser"][w] != seat and kind_of_face(int(table["win_face"][w])) == kind
                for meld in range(int(table["num_melds"][seat])):
                    counts[w] += 4 * (table["meld_kind"][seat, meld] == kind)  # after riichi all are closed kans
        return tuple(counts)

    def _play(self, log: KyokuLog) -> int:
        """Play a deal from its wall; return one of the codes above."""
        place_deal(self._tables, log)
        result = int(log.result["result"])
        return int(_replay_kyoku(self._tables[0], self._suits, log.moves, log.draws, result, self._cursor))

    def _replay_kyoku(self, log: KyokuLog) -> str | None:
        table = self._table
        if log.deal.size and not np.array_equal(log.deal, log.wall[:52]):
            return f"the deal differs from the wall at place {int(np.argmax(log.deal != log.wall[:52]))}"
        code = self._play(log)
        self.num_decisions += int(table["num_decisions"])
        if log.is_wall_from_seed:
            self.num_draws_checked += int(self._cursor[DRAWS])
        else:
            self.num_draws_unchecked += int(self._cursor[DRAWS])
        if code != _SAME:
            return self._explain(code, log)
        return compare_results(table, log.result, log.is_result_complete)

    def _explain(self, code: int, log: KyokuLog) -> str:
        table = self._table
        i = int(self._cursor[NEXT])
        number = int(log.moves[i]) if i < log.moves.size else None
        recorded = "the end of the deal"
        if number is not None:
            recorded = f"seat {number >> ACTION_BITS} {action_name(number & _ACTION_MASK)}"
        if code == _OTHER_DRAW and self._cursor[DRAWS] >= log.draws.size:
            return "the record ends the deal here, but by the rules the next seat draws"
        if code == _OTHER_DRAW:
            return f"draw {int(self._cursor[DRAWS])} differs from the wall's tile {_drawn_id(self._tables[0])}"
        if code == _TOO_LONG:
            return f"the deal is over by the rules, but the record continues with: {recorded}"
        if code == _NOT_ASKED:
            return f"the record has a claim that the rules do not allow: {recorded}"
        legal = ", ".join(action_name(int(a)) for a in np.flatnonzero(table["legal"]))
        return f"the record has: {recorded}; by the rules seat {table['actor']} chooses one of: {legal}"

    def _compare_end(self, game: GameLog, following: KyokuLog | None) -> str | None:
        table = self._table
        end_kyoku(self._tables[0])
        is_over = table["phase"] == codes.GAME_END
        if following is None:
            if game.final_scores is None:
                return None
            if not is_over:
                return "the record ends the game here, but by the rules it continues"
            return _unequal("final scores", game.final_scores, tuple(table["scores"].tolist()))
        if is_over:
            return "the game ends here by the rules, but the record continues"
        recorded = (following.kyoku, following.honba, following.kyotaku, following.scores)
        ours = tuple(int(table[name]) for name in ("kyoku", "honba", "kyotaku"))
        return _unequal("next (kyoku, honba, kyotaku, scores)", recorded, (*ours, tuple(table["scores"].tolist())))


def copy_result(table: Any, result: np.void) -> None:
    """Copy the RESULT of a table at KYOKU_END into ``result``."""
    for name in codes.RESULT.names or ():
        result[name] = table[name]


def is_result_whole(log: KyokuLog) -> bool:
    """Tell whether a result has all that a record can have: tenhou6 has no fu of limit hands, mjai no han and yaku."""
    num_wins, result = int(log.result["num_wins"]), log.result
    return log.is_result_complete and bool(
        np.all((result["win_fu"] > 0) | (result["win_yakuman"] > 0), where=np.arange(3) < num_wins)
    )


_WITHOUT_DETAILS = ("result", "num_wins", "win_seat", "win_loser", "deltas", "win_deltas")


def compare_results(table: np.void, recorded: np.void, is_complete: bool) -> str | None:
    """Return what differs between the Result of a table and of a record; only winners and payments if incomplete.

    A fu of 0 in the record is not compared: tenhou6 does not have that of a limit hand.
    """
    for name in codes.RESULT.names if is_complete and codes.RESULT.names else _WITHOUT_DETAILS:
        ours = table[name] if name != "win_fu" else np.where(recorded[name], table[name], 0)
        difference = _unequal(name, recorded[name].tolist(), ours.tolist())
        if difference:
            return difference
    return None


def _unequal(name: str, recorded: object, ours: object) -> str | None:
    if recorded == ours:
        return None
    return f"{name}: {recorded} in the record, {ours} by the rules"


_MAX_MOVES = 256  # a deal has at most 70 draws with a discard each, 4 riichi, 16 melds with a discard, 3 wins


@cache
def process_replayer() -> Replayer:
    """Return the one replayer of this process."""
    return Replayer()


class GameRecorder:
    """Keeps the moves of the running deal of every table, and the finished deals."""

    def __init__(self, simulator: Simulator) -> None:
        """Follow ``simulator``, which must stop at the end of every deal; ValueError otherwise."""
        if not simulator.stops_at_kyoku_end:
            raise ValueError("the simulator goes on by itself: make it with stops_at_kyoku_end=True to record games")
        self._simulator = simulator
        num_tables = len(simulator.tables)
        self._moves = np.zeros((num_tables, _MAX_MOVES), np.uint16)
        self._num_moves = np.zeros(num_tables, np.int64)
        self._kyokus: list[list[KyokuLog]] = [[] for _ in range(num_tables)]
        self._starts = simulator.tables[["honba", "kyotaku", "scores"]].copy()

    def advance(self, indices: I64, actions: I16) -> None:
        """Advance the simulator and write down what came of it: granted claims only, no passes."""
        tables = self._simulator.tables
        actors = tables["actor"][indices]
        was_window = np.isin(tables["phase"][indices], (codes.CLAIM, codes.ROB_KAN)).astype(np.int8)
        self._simulator.advance(indices, actions)
        _record(tables, indices, np.asarray(actions, np.int16), actors, was_window, self._moves, self._num_moves)

    def take_kyokus(self, indices: I64) -> None:
        """Keep the finished deals of the tables ``indices``, which stand at KYOKU_END."""
        for i in indices.tolist():
            kyoku = self.running_kyoku(i)
            copy_result(self._simulator.tables[i], kyoku.result)
            self._kyokus[i].append(kyoku)
            self._num_moves[i] = 0

    def running_kyoku(self, index: int) -> KyokuLog:
        """Return the deal of table ``index`` as far as it has been played, with an empty result."""
        table, start = self._simulator.tables[index], self._starts[index]
        first, second, third, fourth = start["scores"].tolist()
        return KyokuLog(
            kyoku=int(table["kyoku"]),
            honba=int(start["honba"]),
            kyotaku=int(start["kyotaku"]),
            scores=(first, second, third, fourth),
            wall=table["wall"].astype(np.uint8),
            is_wall_from_seed=False,
            moves=self._moves[index, : self._num_moves[index]].copy(),
            result=empty_result(),
        )

    def finished_kyokus(self, index: int) -> list[KyokuLog]:
        """Return the finished deals of the game at table ``index``."""
        return list(self._kyokus[index])

    def begin_kyokus(self, indices: I64) -> None:
        """Note how the new deals of the tables ``indices`` start; call it after ``next_kyoku`` and after ``reset``.

        After ``reset`` what was written down of the game before is forgotten.
        """
        tables = self._simulator.tables
        self._num_moves[indices] = 0
        is_first = (tables["num_kyoku"][indices] == 1) & (tables["phase"][indices] != codes.GAME_END)
        for index in indices[is_first].tolist():
            self._kyokus[index] = []
        for name in ("honba", "kyotaku", "scores"):
            self._starts[name][indices] = tables[name][indices]

    def finish(self, index: int, game_id: str, names: tuple[str, str, str, str]) -> GameLog:
        """Return the game of table ``index`` and forget it; ValueError if the table is not at GAME_END."""
        table = self._simulator.tables[index]
        if table["phase"] != codes.GAME_END:
            raise ValueError(f"table {index} is in phase {table['phase']}: a game is finished at GAME_END")
        kyokus, self._kyokus[index] = self._kyokus[index], []
        first, second, third, fourth = table["scores"].tolist()
        return GameLog(
            id=game_id,
            rules=self._simulator.rules,
            names=names,
            kyokus=kyokus,
            final_scores=(first, second, third, fourth),
        )


@jit
def _record(
    tables: Records, indices: I64, actions: I16, actors: I8, was_window: I8, moves: U16, num_moves: I64
) -> None:  # fmt: skip
    """Append the actions of own turns, and what was granted where a claim window has just closed."""
    for line in range(len(indices)):
        i = indices[line]
        t, n = tables[i], num_moves[i]
        if not was_window[line]:
            moves[i, n] = actors[line] << ACTION_BITS | actions[line]
            num_moves[i] += 1
        elif t.phase == codes.CLAIM or t.phase == codes.ROB_KAN:
            continue
        elif t.result == codes.WIN_RESULT:
            for w in range(t.num_wins):
                moves[i, n + w] = t.win_seat[w] << ACTION_BITS | codes.RON
            num_moves[i] += t.num_wins
        elif t.result == 0 and t.turn == t.actor and codes.PON <= t.claim_actions[t.actor] < codes.PASS:
            # The seat that got its pon, kan or chi has the turn now; the others' claims are void.
            moves[i, n] = t.actor << ACTION_BITS | t.claim_actions[t.actor]
            num_moves[i] += 1
