"""A recorded game step by step, as plain values from which a page shows it without knowing any rule.

A deal is its first state and its steps; each step has the keys of the state that it changes (viewer_state.py). Steps:
``draw``, ``discard``, ``riichi``, ``chi``, ``pon``, ``minkan``, ``ankan``, ``kakan``, ``end``.

>>> values = viewer_game(game, opinions)  # keys: viewer_game
>>> json.dumps(values)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from suphx.games.riichi.engine.hanchan import end_kyoku
from suphx.games.riichi.records.log.gamelog import GameLog, KyokuLog
from suphx.games.riichi.records.log.replay import compare_results
from suphx.games.riichi.records.view.game_text import kyoku_name
from suphx.games.riichi.records.view.kyoku_walk import Decision, KyokuWalk
from suphx.games.riichi.records.view.recorded_decisions import Opinions
from suphx.games.riichi.records.view.shown_tiles import SEATS
from suphx.games.riichi.records.view.viewer_decision import viewer_decision
from suphx.games.riichi.records.view.viewer_result import shown_ura, viewer_result
from suphx.games.riichi.records.view.viewer_steps import UNKNOWN, ViewerSteps
from suphx.games.riichi.table.table import GAME_END
from suphx.games.riichi.table.tile import NUM_TILES, face_of_id
from suphx.games.riichi.table.wall import DORA_POSITIONS, RINSHAN, URA_POSITIONS


def viewer_game(
    game: GameLog, opinions: Opinions | None = None, seats: Sequence[int] | None = None
) -> dict[str, Any]:  # fmt: skip
    """Return the game; ValueError when its moves contradict the rules.

    ``{"id", "names": [4], "deals": [{"name", "kyoku", "honba", "sticks", "dealer", "wall": [136 faces], "scores": [4],
    "after": [4], "start": state, "steps": [{"kind", "seat", "faces", "changes": state, "decisions"}], "result"}],
    "final": [4] or null, "placement": [4] or null, "agent": name or null, "num_decisions", "num_differences"}``.
    ``after``: points when the next deal starts, or at the end of the game. ``opinions``: of all decisions of the game
    (``recorded_decisions``); the steps then have the ``decisions`` (viewer_decision.py) that they lead to, with
    ``seats`` (0-3) only theirs.
    """
    deals, first, end = [], 0, None
    for index in range(len(game.kyokus)):
        deal = _Deal(game, index, opinions, first, seats)
        deals.append(deal.play())
        first += deal.num_decisions
        end = deal.walk.table
    decisions = [each for deal in deals for step in deal["steps"] for each in step["decisions"]]
    is_over = end is not None and end["phase"] == GAME_END
    return {
        "id": game.id,
        "names": list(game.names),
        "deals": deals,
        "final": deals[-1]["after"] if is_over else None,
        "placement": [int(place) for place in end["placement"]] if end is not None and is_over else None,
        "agent": opinions.name if opinions else None,
        "num_decisions": sum(each["played"] is not None and each["agent"] is not None for each in decisions),
        "num_differences": sum(each["differs"] for each in decisions),
    }


@dataclass(slots=True)
class _Deal:
    """Plays one deal and collects its steps."""

    game: GameLog
    index: int
    opinions: Opinions | None
    first: int
    """Number of the deal's first decision in the game."""
    seats: Sequence[int] | None = None
    """Whose decisions are shown; None: everybody's."""
    num_decisions: int = 0
    walk: KyokuWalk = field(init=False)
    steps: ViewerSteps = field(init=False)

    def play(self) -> dict[str, Any]:
        """Return the deal; the table is then at the start of the next one, or at the end of the game."""
        log, red = self.game.kyokus[self.index], self.game.rules.red_bits
        self.walk = walk = KyokuWalk(self.game, self.index)
        scores = [int(score) for score in walk.table["scores"]]
        self.steps = ViewerSteps(walk.table, red)
        pending: tuple[int, int] | None = None
        for decision in walk:
            if pending is not None:
                self.steps.follow(walk.table, *pending)
            self._judge(decision)
            pending = (decision.action, int(walk.table["phase"]))
        if pending is not None:
            self.steps.follow(walk.table, *pending)
        difference = compare_results(walk.table, log.result, log.is_result_complete)
        if difference:
            raise ValueError(f"{walk.place} contradicts the rules ({difference}): see suphx records verify")
        result, wall = viewer_result(walk.table, red), _wall(log, walk.table, red)
        end_kyoku(walk.tables[0])
        return {
            "name": kyoku_name(log.kyoku, log.honba),
            "kyoku": log.kyoku,
            "honba": log.honba,
            "sticks": log.kyotaku,
            "dealer": log.kyoku % SEATS,
            "wall": wall,
            "scores": scores,
            "after": [int(score) for score in walk.table["scores"]],
            "start": self.steps.start,
            "steps": self.steps.steps,
            "result": result,
        }

    def _judge(self, decision: Decision) -> None:
        """Add a decision to the step that led to it, if an agent was asked and there is a choice."""
        number = self.first + self.num_decisions
        self.num_decisions += 1
        table = self.walk.table
        if self.opinions is None or table["num_legal"] < 2:
            return
        if self.seats is not None and table["actor"] not in self.seats:
            return
        self.steps.steps[-1]["decisions"].append(
            viewer_decision(
                table,
                decision.action,
                is_known=decision.is_known,
                opinion=int(self.opinions.actions[number]),
                probabilities=self.opinions.probabilities[number],
            )
        )


def _wall(log: KyokuLog, table: Any, red_fives: int) -> list[int]:
    """Return the faces of the wall; UNKNOWN where the record did not show the tile of a wall that has no seed."""
    faces = [face_of_id(int(tile), red_fives) for tile in log.wall]
    if log.is_wall_from_seed:
        return faces
    num_dora = int(table["num_dora"])
    known = set(range(int(table["next_draw"]))) | set(RINSHAN[: int(table["num_kans"])])
    known |= set(DORA_POSITIONS[:num_dora])
    known |= set(URA_POSITIONS[: shown_ura(table)])
    return [face if place in known else UNKNOWN for place, face in zip(range(NUM_TILES), faces, strict=True)]
