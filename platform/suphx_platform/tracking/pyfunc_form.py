"""Nets as a ``pyfunc`` model of MLflow: an MLmodel file with signature and example beside the untouched nets.

The model names the module that loads it (``loader_module``), so nothing is pickled. It has the code of this project as
a wheel, and requirements.txt pins what the wheel needs: `mlflow models serve` and `build-docker` need no more.
"""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suphx.games.registry import DEFAULT_GAME, decision_names, find_game, game_of_files, has_candidates, load_game
from suphx_platform.code_archive import pinned, write_wheel
from suphx_platform.storage.objects import file_digest
from suphx_platform.tracking import suphx_model
from suphx_platform.tracking.mlflow_client import QUIET

if TYPE_CHECKING:
    import pandas as pd

_NETS = "nets"
_NETS_FOLDER = Path("data") / _NETS
EVENTS, RECORD = "events", "record"
REQUIREMENTS = ("lazy-loader", "numba", "numpy", "pandas", "pydantic", "safetensors", "scipy", "torch")
"""What the code imports that answers for nets."""
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


def write_pyfunc(nets: Path, folder: Path, *, model_id: str, run_id: str, has_code: bool = True) -> None:
    """Write the model with the files of ``nets``, of any game, into the new ``folder``; the ids are MLflow's.

    Without code (a megabyte) the model can only be loaded where this project is installed.
    """
    os.environ.update(QUIET)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about MLflow's own types, at its import
        import mlflow.pyfunc
    import pandas as pd
    from mlflow.models import Model, ModelSignature
    from mlflow.types import ColSpec, DataType, Schema

    columns = columns_of(nets)
    outputs = Schema([ColSpec(DataType.string, name) for name in columns.outputs])
    source = folder.with_name(_NETS)
    source.symlink_to(nets.resolve())  # MLflow copies it under this name
    loader, code = "suphx_platform.agents.pyfunc_agent", None  # its _load_pyfunc makes the model of the nets
    if has_code:
        loader = suphx_model.__name__.rpartition(".")[2]
        code = [suphx_model.__file__, str(write_wheel(folder.parent))]
    mlflow.pyfunc.save_model(
        folder,
        loader_module=loader,
        data_path=str(source),
        code_paths=code,
        mlflow_model=Model(run_id=run_id, model_id=model_id),
        signature=ModelSignature(inputs=Schema([ColSpec(DataType.string, columns.input)]), outputs=outputs),
        input_example=pd.DataFrame({columns.input: [columns.example]}),
        pip_requirements=pinned(REQUIREMENTS),  # not this project: a package of its name on an index is somebody else's
        metadata={"suphx_version": version("suphx")},
    )
    source.unlink()


def take_nets(folder: Path) -> None:
    """Leave only the nets of a model in ``folder``, as if they had been stored without MLflow's files."""
    nets = folder / _NETS_FOLDER
    if not nets.is_dir():  # registered by hand, as a folder of nets
        return
    kept = folder.with_name(f".{folder.name}.nets")
    shutil.rmtree(kept, ignore_errors=True)
    nets.rename(kept)
    shutil.rmtree(folder)
    kept.rename(folder)


def net_digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each net in a folder, by file name."""
    return {path.name: file_digest(path)[1] for path in sorted(folder.glob("*.safetensors"))}


def differences(found: Mapping[str, str], recorded: Mapping[str, str]) -> list[str]:
    """Return a phrase for each file that is not as ``recorded``, such as ``chow.safetensors is missing``."""
    told = []
    for name in sorted(found.keys() | recorded.keys()):
        if name not in found:
            told.append(f"{name} is missing")
        elif name not in recorded:
            told.append(f"{name} was added")
        elif found[name] != recorded[name]:
            told.append(f"{name} has the SHA-256 {found[name]} instead of {recorded[name]}")
    return told


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

    model_type: str
    """What the page of the model calls it."""
    input: str
    outputs: tuple[str, ...]
    example: str


def columns_of(nets: Path) -> PyfuncColumns:
    """Return the form for the nets in a folder, riichi's if some are missing; ValueError if the first is damaged."""
    name = game_of_files(path.name for path in nets.glob("*.safetensors")) or DEFAULT_GAME
    model_type = f"{len(decision_names(name))} nets"
    if find_game(name).has_mjai:
        outputs = ("action", "probabilities")
        return PyfuncColumns(model_type=model_type, input=EVENTS, outputs=outputs, example=json.dumps(RIICHI_EXAMPLE))
    from suphx.models.tensor_file import read_header  # torch, which recipes and their commands do not need

    game: Any = load_game(name)
    header = read_header(nets / f"{decision_names(name)[0]}.safetensors")
    rules = game.new_rules(header["rules"] if has_candidates(name) else {})
    example = game.new_record(rules, seed=0)
    return PyfuncColumns(model_type=model_type, input=RECORD, outputs=("move", "values"), example=example)
