"""A registered agent as a ``pyfunc`` model of MLflow: a row is a position, the answer is a move.

Of riichi a position is what the player has seen as mjai events: ``events`` is the JSON list since ``start_game``, whose
``id`` is its seat.

>>> model = mlflow.pyfunc.load_model("models:/suphx@champion")
>>> model.predict(pandas.DataFrame({"events": [json.dumps(events)]}))
                                              action                                      probabilities
0  {"type": "dahai", "actor": 0, "pai": "E", "tsu...  [{"move": {"type": "dahai", "actor": 0, "pai":...

Of a game whose seats choose among candidate moves it is a game that is not finished: ``record`` is a line of a file of
records (docs/doudizhu.md). A record has all hands, but the nets see only what the seat that is to move sees.

>>> model = mlflow.pyfunc.load_model("models:/doudizhu@champion")
>>> model.predict(pandas.DataFrame({"record": ['{"game": "doudizhu", "hands": …, "moves": ["33", "77"], …}']}))
   move                                         values
0  pass  [{"move": "pass", "value": 0.31}, {"move": …

MLflow calls ``_load_pyfunc``, because the model names this module as its ``loader_module``: nothing is pickled, and the
nets are compared with the SHA-256 in the model's metadata.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suphx.games.registry import candidate_game, game_of_files, has_candidates
from suphx.json_text import parse_json
from suphx.kernel.record import Records
from suphx.selfplay.agents.agent import load_nets
from suphx.selfplay.agents.opinion import candidate_opinions
from suphx_platform.agents.agent_loading import have_same_moves, load_net_agent
from suphx_platform.agents.mjai.mjai_arena import decision_after, move_of, moves_of
from suphx_platform.agents.mjai.programs import Event
from suphx_platform.tracking.pyfunc_form import EVENTS, RECORD, texts_of

if TYPE_CHECKING:
    import pandas as pd


class PyfuncAgent:
    """Consumes: positions. Produces: the agent's move in each, and what its nets think of the others."""

    def __init__(self, folder: Path) -> None:
        """``folder`` has five nets; ValueError if not, or if they see hidden tiles."""
        self._agent = load_net_agent(str(folder))

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
        decisions: list[Records | None] = []  # a table (1,) that waits for the player
        for row, text in enumerate(column.tolist()):
            try:
                events = parse_json(text) if isinstance(text, str) else text
                if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
                    raise ValueError("it is not a list of mjai events")
                decisions.append(decision_after(events))
            except ValueError as error:
                raise ValueError(f"row {row} of the column events: {error}") from error
        actions: list[Event] = [{"type": "none"}] * len(decisions)
        probabilities: list[list[dict[str, Any]]] = [[] for _ in decisions]
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


class PyfuncSideAgent:
    """Consumes: games so far. Produces: the agent's next move in each, and the values of all legal moves."""

    def __init__(self, folder: Path, game: str) -> None:
        """``folder`` has the nets of ``game``; errors as for ``load_nets``."""
        self._game, self._player = candidate_game(game), load_nets(folder, game=game)

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
        try:
            record = self._game.read_record(str(text))
            if not have_same_moves(self._game, self._player.rules, record.rules):
                raise ValueError("its rules have other moves than those that the nets learned")
            tables = self._game.next_decision(record)
        except ValueError as error:
            raise ValueError(f"row {row} of the column {RECORD}: {error}") from error
        if not tables.waiting().size:
            return "", "[]"
        (opinion,) = candidate_opinions(tables, self._player)
        moves = [self._game.recorded_move(record.rules, move) for move in opinion.candidates.tolist()]
        values = [] if opinion.values is None or len(moves) < 2 else opinion.values.tolist()
        ranked = sorted(zip(moves, values, strict=False), key=lambda each: -each[1])
        told = [{"move": move, "value": round(value, 4)} for move, value in ranked]
        return moves[opinion.chosen], json.dumps(told, ensure_ascii=False)


def _load_pyfunc(path: str) -> PyfuncAgent | PyfuncSideAgent:
    """Return the model with the nets in ``path``; called by MLflow."""
    game = game_of_files(file.name for file in Path(path).glob("*.safetensors"))
    if game is not None and has_candidates(game):
        return PyfuncSideAgent(Path(path), game)
    return PyfuncAgent(Path(path))
