"""An agent as a ``pyfunc`` model of MLflow: a row is a position, the answer is a move.

>>> model = mlflow.pyfunc.load_model("models:/suphx@champion")
>>> model.predict(pandas.DataFrame({"events": [json.dumps(events)]}))
                                              action                                      probabilities
0  {"type": "dahai", "actor": 0, "pai": "E", "tsu...  [{"move": {"type": "dahai", "actor": 0, "pai":...

Of riichi a position is what the player has seen: ``events``, the mjai events since ``start_game``, whose ``id`` is its
seat. Of every other game it is a game so far: ``record``, a line of a file of records. A record has all hands, but the
nets see only what the seat that is to move sees.

MLflow calls ``_load_pyfunc``, because the model names this module as its ``loader_module``, or suphx_model.py, which
calls it: nothing is pickled.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from suphx.games.game import Game, Tables
from suphx.games.registry import find_game, game_of_files, has_candidates, load_game
from suphx.games.riichi.records.mjai_table import reply_of_action
from suphx.json_text import parse_json
from suphx.kernel.record import Records
from suphx.selfplay.agents.agent import ask
from suphx.selfplay.agents.net_agent import load_nets
from suphx.selfplay.agents.opinion import candidate_opinions
from suphx_platform.agents.agent_loading import have_same_moves, load_net_agent
from suphx_platform.agents.mjai.mjai_arena import decision_after, moves_of
from suphx_platform.tracking.pyfunc_form import EVENTS, RECORD, columns_of, texts_of

if TYPE_CHECKING:
    import pandas as pd

Answer = tuple[str, str]
"""The move, and what the nets think of all moves, as JSON."""


class PyfuncAgent:
    """Consumes: positions. Produces: the agent's move in each, and what its nets think of the others."""

    def __init__(self, folder: Path) -> None:
        """``folder`` has the nets of a game; ValueError if not, or if they see hidden tiles."""
        game = game_of_files(file.name for file in folder.glob("*.safetensors"))
        self._folder = folder
        self._reader = _Events(folder) if game is None or find_game(game).has_mjai else _Records(folder, game)

    def warm_up(self) -> None:
        """Answer the example of the model, so that the first request need not wait for kernels to be compiled."""
        import pandas as pd

        self.predict(pd.DataFrame({self._reader.column: [columns_of(self._folder).example]}))

    def predict(self, model_input: pd.DataFrame, params: dict[str, Any] | None = None) -> pd.DataFrame:
        """Return the answers to the positions in the column of the game (docs/agents.md).

        Of ``events``: ``action``, an event of mjai, ``{"type": "none"}`` for a pass and where the player has nothing to
        decide; ``probabilities``, ``[{"move": event, "p": probability}]``, the most probable one first. Each is that of
        the net that decides about it, so that discards sum to 1 and riichi or a call has the probability of yes. Moves
        that rules decide, such as a win, are not in it. Of ``record``: ``move``, empty where the game is over;
        ``values``, ``[{"move": …, "value": …}]``, the best move first, empty if fewer than two moves are legal, and of
        nets without values.
        ValueError names the row whose position is not possible.
        """
        import pandas as pd

        reader = self._reader
        column = texts_of(model_input, reader.column)
        positions: list[Any] = []
        for row, text in enumerate(column.tolist()):
            try:
                positions.append(reader.read(text))
            except ValueError as error:
                raise ValueError(f"row {row} of the column {reader.column}: {error}") from error
        answers = reader.answer(positions)
        return pd.DataFrame(answers, columns=list(reader.outputs), index=column.index)


class _Events:
    """Positions of riichi; all are answered in one batch of each net."""

    column, outputs = EVENTS, ("action", "probabilities")

    def __init__(self, folder: Path) -> None:
        self._agent = load_net_agent(str(folder))

    def read(self, text: Any) -> Records | None:
        """Return a table (1,) that waits for the player; None if it has nothing to decide."""
        events = parse_json(text) if isinstance(text, str) else text
        if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
            raise ValueError("it is not a list of mjai events")
        return decision_after(events)

    def answer(self, positions: Sequence[Records | None]) -> list[Answer]:
        answers = [(_json({"type": "none"}), "[]")] * len(positions)
        asked = [row for row, position in enumerate(positions) if position is not None]
        if asked:
            tables = np.concatenate([position for position in positions if position is not None])
            lines = np.arange(len(asked), dtype=np.int64)
            chosen, judged = self._agent.act(tables, lines), self._agent.move_probabilities(tables, lines)
            for line, row in enumerate(asked):
                move, moves = reply_of_action(tables[line], int(chosen[line])), moves_of(tables[line], judged[line])
                answers[row] = _json(move), _json(moves)
        return answers


class _RecordedGame(Game, Protocol):
    """A game whose records may end anywhere: that of candidate moves, or of single hands."""

    def read_record(self, text: str) -> Any:
        """Return the game of a line of a file of records, finished or not; ValueError says what is wrong with it."""

    def recorded_move(self, rules: Any, move: int) -> str:
        """Return a move as records have it."""

    def next_decision(self, record: Any) -> Tables:
        """Return a table with the position after the moves of a record; ValueError for a move that is not legal."""


class _Records:
    """Games so far of a game that has records of unfinished games."""

    column, outputs = RECORD, ("move", "values")

    def __init__(self, folder: Path, game: str) -> None:
        self._game: _RecordedGame = load_game(game)  # type: ignore[assignment]
        self._player, self._has_values = load_nets(folder, game=game), has_candidates(game)

    def read(self, text: Any) -> tuple[Any, Any]:
        """Return the rules of the game and its table."""
        record = self._game.read_record(str(text))
        own: Any = self._game
        if self._has_values and not have_same_moves(own, self._player.rules, record.rules):
            raise ValueError("its rules have other moves than those that the nets learned")
        return record.rules, self._game.next_decision(record)

    def answer(self, positions: Sequence[tuple[Any, Any]]) -> list[Answer]:
        return [self._answer(rules, tables) for rules, tables in positions]

    def _answer(self, rules: Any, tables: Any) -> Answer:
        waiting = tables.waiting()
        if not waiting.size:
            return "", "[]"
        if not self._has_values:
            (move,) = ask(self._player, tables.state, waiting, tables.num_moves).tolist()
            return self._game.recorded_move(rules, move), "[]"
        (opinion,) = candidate_opinions(tables, self._player)
        moves = [self._game.recorded_move(rules, move) for move in opinion.candidates.tolist()]
        values = [] if opinion.values is None or len(moves) < 2 else opinion.values.tolist()
        ranked = sorted(zip(moves, values, strict=False), key=lambda each: -each[1])
        return moves[opinion.chosen], _json([{"move": move, "value": round(value, 4)} for move, value in ranked])


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _load_pyfunc(path: str) -> PyfuncAgent:
    """Return the model with the nets in ``path``; called by MLflow."""
    return PyfuncAgent(Path(path))
