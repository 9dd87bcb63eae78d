"""A registered agent of a game whose seats choose among candidate moves, as a ``pyfunc`` model of MLflow.

>>> model = mlflow.pyfunc.load_model("models:/doudizhu@champion")
>>> model.predict(pandas.DataFrame({"record": ['{"game": "doudizhu", "hands": …, "moves": ["33", "77"], …}']}))
   move                                         values
0  pass  [{"move": "pass", "value": 0.31}, {"move": …

``record`` is a line of a file of records (docs/doudizhu.md), of a game that is not finished. A record has all hands,
but the nets see only what the seat that is to move sees. MLflow calls ``_load_pyfunc``, as in pyfunc_agent.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suphx.games.game import CandidateOpinion
from suphx.selfplay.agents.side_opinion import seat_opinions
from suphx.training.value_nets import load_value_nets
from suphx_platform.agents.agent_loading import have_same_moves
from suphx_platform.tracking.pyfunc_form import RECORD, check_nets, texts_of

if TYPE_CHECKING:
    import pandas as pd


class PyfuncSideAgent:
    """Consumes: games so far. Produces: the agent's next move in each, and the values of all legal moves."""

    def __init__(self, folder: Path) -> None:
        """``folder`` has the nets of all seats; FileNotFoundError and ValueError as for ``load_value_nets``."""
        self._trained = load_value_nets(folder)
        self._player = self._trained.player()

    def predict(self, model_input: pd.DataFrame, params: dict[str, Any] | None = None) -> pd.DataFrame:
        """Return the columns ``move`` and ``values`` (JSON) of the games in the column ``record``.

        ``move`` is empty where the game is over. ``values`` is ``[{"move": …, "value": …}]``, the best move first, and
        empty if fewer than two moves are legal. ValueError names the row whose record is not possible.
        """
        import pandas as pd

        column = texts_of(model_input, RECORD)
        rows = [self._answer(row, text) for row, text in enumerate(column.tolist())]
        columns = {"move": [move for move, _ in rows], "values": [values for _, values in rows]}
        return pd.DataFrame(columns, index=column.index)

    def _answer(self, row: int, text: object) -> tuple[str, str]:
        game = self._trained.game
        try:
            record = game.read_record(str(text))
            if not have_same_moves(game, self._trained.rules, record.rules):
                raise ValueError("its rules have other moves than those that the nets learned")
            decisions = game.next_decision(record)
        except ValueError as error:
            raise ValueError(f"row {row} of the column {RECORD}: {error}") from error
        if decisions is None:
            return "", "[]"
        (seen,) = decisions.seen
        (opinion,) = seat_opinions(decisions.simulator, seen, self._player)
        return self._text(record.rules, opinion)

    def _text(self, rules: Any, opinion: CandidateOpinion) -> tuple[str, str]:
        moves = [self._trained.game.recorded_move(rules, move) for move in opinion.candidates.tolist()]
        values = [] if opinion.values is None or len(moves) < 2 else opinion.values.tolist()
        ranked = sorted(zip(moves, values, strict=False), key=lambda each: -each[1])
        told = [{"move": move, "value": round(value, 4)} for move, value in ranked]
        return moves[opinion.chosen], json.dumps(told, ensure_ascii=False)


def _load_pyfunc(path: str) -> PyfuncSideAgent:
    """Return the model with the nets in ``path``; called by MLflow. ValueError names nets that are not as recorded."""
    check_nets(Path(path))
    return PyfuncSideAgent(Path(path))
