"""Packages that come with an extra of this project, and the error that names the extra where one is missing."""

from __future__ import annotations

from importlib.util import find_spec

EXTRA_OF = {
    "tensorboard": "tensorboard",
    "torch": "learn",
    **dict.fromkeys(("pandas", "pyarrow"), "tables"),
    **dict.fromkeys(("boto3", "botocore", "kubernetes", "mlflow", "packaging", "ray", "yaml"), "platform"),
}
"""Module -> the extra that brings it."""


def need(*modules: str) -> None:
    """Raise ModuleNotFoundError, which names the extra, for the first of ``modules`` that is not installed."""
    for module in modules:
        if find_spec(module) is None:
            raise ModuleNotFoundError(needs(module), name=module)


def needs(module: str) -> str:
    """Return the sentence about a module of ``EXTRA_OF`` that is not installed."""
    return f"needs {module}: pip install 'suphx[{EXTRA_OF[module]}]'"
