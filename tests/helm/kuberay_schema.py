"""KubeRay's custom resource definitions as strict JSON schemas."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.repository import REPOSITORY

_PLURALS = {"RayCluster": "rayclusters", "RayCronJob": "raycronjobs", "RayJob": "rayjobs"}


class KubeRaySchemas:
    """Schemas of version v1, read at the first use.

    >>> KubeRaySchemas(Path("crds")).errors({"kind": "RayJob", "spec": {"entrypont": "suphx run"}})
    ["spec: Additional properties are not allowed ('entrypont' was unexpected)"]
    """

    def __init__(self, folder: Path) -> None:
        """``folder``: holds ``ray.io_rayjobs.yaml`` and so on."""
        self._folder = folder
        self._validators: dict[str, jsonschema.Draft202012Validator] = {}

    def errors(self, found: dict[str, Any]) -> list[str]:
        """Return what the API server would refuse in an object of KubeRay, unknown fields included."""
        errors = self._validator(found["kind"]).iter_errors(found)
        return [f"{'.'.join(str(part) for part in error.absolute_path)}: {error.message}" for error in errors]

    def fields(self, kind: str) -> set[str]:
        """Return the names of the fields of a spec."""
        return set(self._validator(kind).schema["properties"]["spec"]["properties"])

    def _validator(self, kind: str) -> jsonschema.Draft202012Validator:
        if kind not in self._validators:
            text = (self._folder / f"ray.io_{_PLURALS[kind]}.yaml").read_text(encoding="utf-8")
            definition = yaml.load(text, Loader=yaml.CSafeLoader)
            versions = {version["name"]: version["schema"] for version in definition["spec"]["versions"]}
            schema = versions["v1"]["openAPIV3Schema"]
            schema["properties"]["metadata"] = {"x-kubernetes-preserve-unknown-fields": True, "type": "object"}
            self._validators[kind] = jsonschema.Draft202012Validator(_strict(schema))
        return self._validators[kind]


def kuberay_schemas() -> KubeRaySchemas:
    """KubeRay's CRDs: $SUPHX_KUBERAY_CRDS, or ../shared/data/kuberay-crds-1.7.0 beside the repository, else skips."""
    given = os.environ.get("SUPHX_KUBERAY_CRDS")
    folder = Path(given) if given else REPOSITORY.parent / "shared" / "data" / "kuberay-crds-1.7.0"
    if not folder.is_dir():
        pytest.skip(f"no CRDs at {folder}: set SUPHX_KUBERAY_CRDS to the folder of KubeRay 1.7's ray.io_*.yaml")
    return KubeRaySchemas(folder)


def _strict(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an OpenAPI one: unknown fields are errors, what has a default may be absent."""
    strict = dict(schema)
    if schema.get("x-kubernetes-int-or-string"):
        strict["type"] = ["integer", "string"]
        strict.pop("anyOf", None)
    if schema.get("nullable"):
        strict["type"] = [strict["type"], "null"]
    if "properties" in schema:
        fields = schema["properties"]
        strict["properties"] = {name: _strict(field) for name, field in fields.items()}
        strict["required"] = [name for name in schema.get("required", []) if "default" not in fields.get(name, {})]
        if not schema.get("x-kubernetes-preserve-unknown-fields"):
            strict["additionalProperties"] = False
    elif isinstance(schema.get("additionalProperties"), dict):
        strict["additionalProperties"] = _strict(schema["additionalProperties"])
    if "items" in schema:
        strict["items"] = _strict(schema["items"])
    return strict
