"""Nets as a ``pyfunc`` model of MLflow: an MLmodel file with signature and example beside the untouched nets.

The model names the module that loads it (``loader_module``), so nothing is pickled and no code is stored with it: who
loads it needs this project installed. Its metadata has the SHA-256 of each net, which the loader compares.
"""

from __future__ import annotations

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
from suphx_platform.tracking.pyfunc_columns import PyfuncColumns, columns_of

if TYPE_CHECKING:
    from mlflow.models import ModelSignature

DIGESTS = "sha256"
"""In the metadata: {file name of a net: SHA-256}."""
_NETS = "nets"
_MODEL_FILE = "MLmodel"
_NETS_FOLDER = Path("data") / _NETS


def write_pyfunc(nets: Path, folder: Path, *, model_id: str, run_id: str) -> None:
    """Write the model with the files of ``nets``, of any game, into the new ``folder``; the ids are MLflow's."""
    os.environ.update(QUIET)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about MLflow's own types, at its import
        import mlflow.pyfunc
    import pandas as pd
    from mlflow.models import Model

    columns = columns_of(nets)
    source = folder.with_name(_NETS)
    source.symlink_to(nets.resolve())  # MLflow copies it under this name
    mlflow.pyfunc.save_model(
        folder,
        loader_module=columns.loader_module,
        data_path=str(source),
        mlflow_model=Model(run_id=run_id, model_id=model_id),
        signature=_signature(columns),
        input_example=pd.DataFrame({columns.input: [columns.example]}),
        pip_requirements=[],  # a package of this project's name on an index is somebody else's
        metadata={DIGESTS: net_digests(nets), "suphx_version": version("suphx")},
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


def _signature(columns: PyfuncColumns) -> ModelSignature:
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, DataType, Schema

    outputs = Schema([ColSpec(DataType.string, name) for name in columns.outputs])
    return ModelSignature(inputs=Schema([ColSpec(DataType.string, columns.input)]), outputs=outputs)
