"""The SBOM describes the packages of an image."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.repository import REPOSITORY


@pytest.fixture(scope="module")
def components(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    output = tmp_path_factory.mktemp("sbom") / "sbom.json"
    script = REPOSITORY / "infra" / "setup" / "sbom.sh"
    subprocess.run([str(script), str(Path(sys.executable).parent), "cpu", str(output)], check=True, capture_output=True)
    sbom = json.loads(output.read_text(encoding="utf-8"))
    assert sbom["bomFormat"] == "CycloneDX"
    assert sbom["metadata"]["component"]["name"] == "suphx"
    return {component["name"]: component for component in sbom["components"]}


def test_every_locked_package_of_the_image_is_in_it_and_no_other(components: dict[str, dict[str, Any]]) -> None:
    locks = [REPOSITORY / "infra" / "setup" / name for name in ("image.lock", "torch-cpu.lock")]
    lines = [line for lock in locks for line in lock.read_text(encoding="utf-8").splitlines() if "==" in line]
    assert {(name, component["version"]) for name, component in components.items()} == {
        tuple(line.split()[0].split("==")) for line in lines
    }
    assert "pytest" not in components


def test_a_package_has_its_purl_and_the_hashes_of_the_lock(components: dict[str, dict[str, Any]]) -> None:
    numpy = components["numpy"]
    assert str(numpy["purl"]).startswith("pkg:pypi/numpy@")
    lock = (REPOSITORY / "infra" / "setup" / "image.lock").read_text(encoding="utf-8")
    (reference,) = numpy["externalReferences"]
    assert reference["hashes"]
    assert all(f"--hash=sha256:{entry['content']}" in lock for entry in reference["hashes"])
