"""Nets as a ``pyfunc`` model of MLflow: an MLmodel file with signature and example beside the untouched nets.

The model names the module that loads it (``loader_module``), so nothing is pickled and no code is stored with it: who
loads it needs this project installed. Its metadata has the SHA-256 of each net, which the loader compares.
"""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from suphx_platform.tracking.client.mlflow_call import QUIET
from suphx_platform.tracking.net_digests import differences, net_digests

if TYPE_CHECKING:
    from mlflow.models import ModelSignature

LOADER_MODULE = "suphx_platform.agents.pyfunc_agent"
INPUT, OUTPUTS = "events", ("action", "probabilities")
"""Columns."""
DIGESTS = "sha256"
"""In the metadata: {file name of a net: SHA-256}."""
_NETS = "nets"
_MODEL_FILE = "MLmodel"
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
    os.environ.update(QUIET)
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
        metadata={DIGESTS: net_digests(nets)},
    )
    source.unlink()


def check_nets(nets: Path) -> None:
    """Compare the nets of a model with the SHA-256 in its metadata; ``nets`` is the folder that MLflow loads.

    ValueError names the files that differ. Models of earlier versions of this program have no SHA-256 and pass.
    """
    path = nets.parents[len(_NETS_FOLDER.parts) - 1] / _MODEL_FILE
    metadata = yaml.safe_load(path.read_text(encoding="utf-8")).get("metadata") or {}
    recorded = metadata.get(DIGESTS)
    if recorded is None:
        return
    if not isinstance(recorded, Mapping):
        raise ValueError(f"{path} is damaged: {DIGESTS} in its metadata is {recorded!r:.100}")
    if wrong := differences(net_digests(nets), recorded):
        raise ValueError(
            f"the nets in {nets} are not those that were registered: {'; '.join(wrong)}. The files are damaged, or "
            "somebody replaced them: load another version of the model"
        )


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
