"""Nets as a ``pyfunc`` model of MLflow: an MLmodel file with signature and example beside the untouched nets.

The model names the module that loads it (``loader_module``), so nothing is pickled and no code is stored with it: who
loads it needs this project installed.
"""

from __future__ import annotations

import json
import os
import shutil
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from suphx_platform.tracking.client.mlflow_call import quiet_environment

if TYPE_CHECKING:
    from mlflow.models import ModelSignature

LOADER_MODULE = "suphx_platform.agents.pyfunc_agent"
INPUT, OUTPUTS = "events", ("action", "probabilities")
"""Columns."""
_NETS = "nets"
_NETS_FOLDER = Path("data") / _NETS
_HIDDEN_HAND = ["?"] * 13
EXAMPLE = (
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


def write_pyfunc(nets: Path, folder: Path, *, model_id: str, run_id: str) -> None:
    """Write the model with the files of ``nets`` into the new ``folder``; the ids are those of MLflow's model."""
    os.environ.update(quiet_environment())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about MLflow's own types, at its import
        import mlflow.pyfunc
    import pandas as pd
    from mlflow.models import Model

    source = folder.with_name(_NETS)
    source.symlink_to(nets.resolve())  # MLflow copies it under this name
    mlflow.pyfunc.save_model(
        folder,
        loader_module=LOADER_MODULE,
        data_path=str(source),
        mlflow_model=Model(run_id=run_id, model_id=model_id),
        signature=_signature(),
        input_example=pd.DataFrame({INPUT: [json.dumps(EXAMPLE)]}),
        pip_requirements=[f"suphx=={version('suphx')}"],
    )
    source.unlink()


def take_nets(folder: Path) -> None:
    """Leave only the nets of a model in ``folder``, as if they had been stored without MLflow's files."""
    nets = folder / _NETS_FOLDER
    if not nets.is_dir():  # of a version of this program that stored nets only
        return
    kept = folder.with_name(f".{folder.name}.nets")
    shutil.rmtree(kept, ignore_errors=True)
    nets.rename(kept)
    shutil.rmtree(folder)
    kept.rename(folder)


def _signature() -> ModelSignature:
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, DataType, Schema

    outputs = Schema([ColSpec(DataType.string, name) for name in OUTPUTS])
    return ModelSignature(inputs=Schema([ColSpec(DataType.string, INPUT)]), outputs=outputs)
