"""Loads a model of MLflow from its own wheel, where this project is not installed. Models have a copy of this file.

MLflow calls ``_load_pyfunc``. It needs the standard library only until the wheel beside it can be imported.
"""

from __future__ import annotations

import atexit
import importlib
import os
import shutil
import sys
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def _load_pyfunc(path: str) -> Any:
    """Return the model with the nets in ``path``, after an answer to a first position, which compiles its kernels."""
    if find_spec("suphx_platform") is None:
        _unpack(next(Path(__file__).parent.glob("suphx-*.whl")))
    model = importlib.import_module("suphx_platform.agents.pyfunc_agent")._load_pyfunc(path)
    model.warm_up()
    return model


def _unpack(wheel: Path) -> None:
    """Make the code of ``wheel`` importable until this process ends."""
    folder = tempfile.mkdtemp(prefix="suphx-code-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    for parent, _, names in os.walk(folder):
        for name in names:
            os.utime(Path(parent, name), (0, 0))  # compiled kernels are not kept of sources that have just changed
    sys.path.insert(0, folder)
