"""The chart that comes with this code, rendered by Helm's own engine: ``suphx launch --dry-run=client``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from suphx_platform.cluster.cluster_error import ClusterError

_PLACES = (Path(__file__).resolve().parents[3] / "helm" / "suphx", Path(__file__).resolve().parents[1] / "chart")
FOLDER = next((place for place in _PLACES if (place / "Chart.yaml").is_file()), _PLACES[0])
"""The chart: in a checkout, or in an installed package."""
RELEASE = "suphx"
NAMESPACE = "suphx"
_TEMPLATE = "run/template.yaml"


def rendered_template(values: Path | None, *, release: str | None, namespace: str | None) -> dict[str, Any]:
    """Return the ConfigMap with the templates of runs as ``helm install`` would create it.

    ``values``: a file with values of the chart. Raises ClusterError if the chart or Helm's engine is missing, or a
    value is wrong.
    """
    if not (FOLDER / "Chart.yaml").is_file():
        raise ClusterError(f"the chart is not in {FOLDER}: install suphx again, or use --dry-run=server")
    try:
        from helm_python import Chart, HelmError
    except ImportError as error:
        raise ClusterError(
            "--dry-run=client needs Helm's engine, the extra chart of suphx: run pip install helm-python-sdk, or use "
            "--dry-run=server"
        ) from error
    try:
        with Chart.load(FOLDER) as chart:
            given = _values(values)
            chart.validate_schema(given)
            texts = chart.render(given, name=release or RELEASE, namespace=namespace or NAMESPACE)
    except HelmError as error:
        raise ClusterError(f"the chart cannot be rendered with {values or 'its default values'}: {error}") from error
    found: dict[str, Any] = yaml.safe_load(next(text for path, text in texts.items() if path.endswith(_TEMPLATE)))
    return found


def manifest(objects: list[dict[str, Any]]) -> str:
    """Return the YAML of several objects, as ``kubectl apply`` reads it."""
    return "\n---\n".join(yaml.dump(each, Dumper=_Dumper, sort_keys=False).rstrip() for each in objects)


def _values(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise ClusterError(f"the values {path} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise ClusterError(f"{path} is not a file with values of the chart, such as helm/suphx/values.yaml")
    return found


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as they are."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)
