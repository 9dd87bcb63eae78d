"""The scripts of infra/setup as modules: they are not a package."""

from __future__ import annotations

import importlib.util
from types import ModuleType

from tests.repository import REPOSITORY


def load_setup_module(name: str) -> ModuleType:
    """Return the script `infra/setup/NAME.py` as a module."""
    spec = importlib.util.spec_from_file_location(f"setup_{name}", REPOSITORY / "infra" / "setup" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
