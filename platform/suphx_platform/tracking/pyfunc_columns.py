"""What a registered model gets and answers in MLflow's form, for the nets of each game.

Riichi's nets get mjai events (pyfunc_agent.py). Nets of a game whose seats choose among candidate moves get a record of
the game so far (pyfunc_side_agent.py).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from suphx.games.registry import game_of_files

if TYPE_CHECKING:
    import pandas as pd

EVENTS, RECORD = "events", "record"
"""Input columns."""
_HIDDEN_HAND = ["?"] * 13
RIICHI_EXAMPLE = (
    {"type": "start_game", "id": 0, "names": ["East", "South", "West", "North"]},
    {
        "type": "start_kyoku",
        "bakaze": "E",
        "kyoku": 1,
        "honba": 0,
        "kyotaku": 0,
        "oya": 0,
        "dora_marker": "1p",
        "scores": [25000, 25000, 25000, 25000],
        "tehais": [
            ["2m", "3m", "4m", "6m", "7m", "3p", "4p", "5pr", "5s", "5s", "7s", "8s", "N"],
            *([_HIDDEN_HAND] * 3),
        ],
    },
    {"type": "tsumo", "actor": 0, "pai": "9s"},
)
"""A position: the dealer's first discard."""


def texts_of(model_input: pd.DataFrame, column: str) -> pd.Series[str]:
    """Return the texts of an input column.

    MLflow makes a single row of ``{"events": [text, text]}``, whose cell is the list; meant are as many rows.
    """
    import pandas as pd

    cells = model_input[column]
    only = cells.iloc[0] if len(cells) == 1 else None
    if isinstance(only, list | np.ndarray) and all(isinstance(each, str) for each in only):
        return pd.Series(list(only), dtype=object)
    return cells


@dataclass(frozen=True, slots=True, kw_only=True)
class PyfuncColumns:
    """The form of a model."""

    loader_module: str
    """Its ``_load_pyfunc`` makes the model of the nets."""
    model_type: str
    """What the page of the model calls it."""
    input: str
    outputs: tuple[str, ...]
    example: str
    """A cell of the input."""


def columns_of(nets: Path) -> PyfuncColumns:
    """Return the form for the nets in a folder; ValueError if the first of them is damaged."""
    name = game_of_files(path.name for path in nets.glob("*.safetensors"))
    if name is None:
        return PyfuncColumns(
            loader_module="suphx_platform.agents.pyfunc_agent",
            model_type="five nets",
            input=EVENTS,
            outputs=("action", "probabilities"),
            example=json.dumps(RIICHI_EXAMPLE),
        )
    from suphx.games.candidate_game import candidate_game
    from suphx.models.checkpoints.tensor_file import read_header  # torch, which recipes and their commands do not need

    game = candidate_game(name)
    rules = game.new_rules(read_header(nets / f"{game.seat_names[0]}.safetensors")["rules"])
    return PyfuncColumns(
        loader_module="suphx_platform.agents.pyfunc_side_agent",
        model_type=f"{len(game.seat_names)} nets",
        input=RECORD,
        outputs=("move", "values"),
        example=game.new_record(rules, seed=0),
    )
