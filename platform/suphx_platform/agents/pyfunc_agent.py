"""A registered agent as a ``pyfunc`` model of MLflow: a row is a position as mjai events, the answer is a move.

>>> model = mlflow.pyfunc.load_model("models:/suphx@champion")
>>> model.predict(pandas.DataFrame({"events": [json.dumps(events)]}))
                                              action                                      probabilities
0  {"type": "dahai", "actor": 0, "pai": "E", "tsu...  [{"move": {"type": "dahai", "actor": 0, "pai":...

``events`` is the JSON list that the player has seen since ``start_game``, whose ``id`` is its seat. MLflow calls
``_load_pyfunc``, because the model names this module as its ``loader_module``: nothing is pickled, and the nets are
compared with the SHA-256 in the model's metadata.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suphx.json_text import parse_json
from suphx.kernel.record import Records
from suphx_platform.agents.agent_loading import load_net_agent
from suphx_platform.agents.mjai.mjai_player import decision_after, move_of, moves_of
from suphx_platform.agents.mjai.mjai_program import Event
from suphx_platform.tracking.pyfunc_form import EVENTS, check_nets, texts_of

if TYPE_CHECKING:
    import pandas as pd

_NO_MOVE: Event = {"type": "none"}


class PyfuncAgent:
    """Consumes: positions. Produces: the agent's move in each, and what its nets think of the others."""

    def __init__(self, folder: Path) -> None:
        """``folder`` has five nets; ValueError if not, or if they see hidden tiles."""
        self._agent = load_net_agent(str(folder))
        if self._agent.sees_hidden_tiles:
            raise ValueError(f"the nets in {folder} need hidden tiles, which mjai events do not have")

    def predict(self, model_input: pd.DataFrame, params: dict[str, Any] | None = None) -> pd.DataFrame:
        """Return the columns ``action`` and ``probabilities``, both JSON, of positions in the column ``events``.

        ``action`` is an event of mjai, ``{"type": "none"}`` for a pass and where the player has nothing to decide;
        ``probabilities`` is ``[{"move": event, "p": probability}]``, the most probable one first: each as the net says
        that decides about it, so that discards sum to 1 and riichi or a call has the probability of yes. Moves that
        rules decide, such as a win, are not in it. All positions are answered in one batch of each net. ValueError
        names the row whose events are not possible.
        """
        import pandas as pd

        column = texts_of(model_input, EVENTS)
        texts = column.tolist()
        decisions = [_decision(row, text) for row, text in enumerate(texts)]
        actions: list[Event] = [_NO_MOVE] * len(texts)
        probabilities: list[list[dict[str, Any]]] = [[] for _ in texts]
        asked = [row for row, tables in enumerate(decisions) if tables is not None]
        if asked:
            tables = np.concatenate([each for each in decisions if each is not None])
            lines = np.arange(len(asked), dtype=np.int64)
            chosen = self._agent.act(tables, lines)
            judged = self._agent.move_probabilities(tables, lines)
            for line, row in enumerate(asked):
                actions[row] = move_of(tables[line], int(chosen[line]))
                probabilities[row] = moves_of(tables[line], judged[line])
        columns = {"action": list(map(_text, actions)), "probabilities": list(map(_text, probabilities))}
        return pd.DataFrame(columns, index=column.index)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _decision(row: int, text: object) -> Records | None:
    """Return a table (1,) that waits for the player; None if it has nothing to decide."""
    try:
        events = parse_json(text) if isinstance(text, str) else text
        if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
            raise ValueError("it is not a list of mjai events")
        return decision_after(events)
    except ValueError as error:
        raise ValueError(f"row {row} of the column events: {error}") from error


def _load_pyfunc(path: str) -> PyfuncAgent:
    """Return the model with the nets in ``path``; called by MLflow. ValueError names nets that are not as recorded."""
    check_nets(Path(path))
    return PyfuncAgent(Path(path))
