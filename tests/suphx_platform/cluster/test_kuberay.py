"""Which versions of the KubeRay operator a launch accepts, warns of and refuses."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from suphx_platform.cluster.kuberay import (
    CHART,
    RANGE_NOTE,
    is_supported,
    is_too_old,
    operator_version,
    supported_range,
)
from tests.repository import REPOSITORY
from tests.suphx_platform.cluster.fake_api_server import Cluster
from tests.suphx_platform.cluster.fake_operator import RECIPE, Command

OPERATOR = REPOSITORY / "k8s" / "operator"


def deployment(image: str, **labels: str) -> dict[str, Any]:
    """The operator's Deployment, as far as its version is concerned."""
    template = {"spec": {"containers": [{"name": "kuberay-operator", "image": image}]}}
    return {"metadata": {"name": "kuberay-operator", "labels": labels}, "spec": {"template": template}}


@pytest.fixture
def reader(cluster: Cluster) -> Cluster:
    """A cluster whose operator may be read by everyone, as k8s/operator has it."""
    role, _ = yaml.safe_load_all((OPERATOR / "version_reader.yaml").read_text(encoding="utf-8"))
    cluster.rules = [*(cluster.rules or []), *role["rules"]]
    return cluster


@pytest.mark.parametrize(
    ("image", "labels", "version"),
    [
        ("quay.io/kuberay/operator:v1.7.0", {}, "1.7.0"),
        ("registry.example.org:5000/operator:1.8.1-rc.0", {}, "1.8.1"),
        ("quay.io/kuberay/operator@sha256:" + "0" * 64, {}, None),
        ("quay.io/kuberay/operator:nightly", {"app.kubernetes.io/version": "1.7.2"}, "1.7.2"),
    ],
)
def test_the_version_is_that_of_the_image_or_of_the_operators_chart(
    image: str, labels: dict[str, str], version: str | None
) -> None:
    assert operator_version(deployment(image, **labels)) == version


def test_the_range_is_that_of_the_chart_and_the_operator_of_k8s_is_in_it() -> None:
    about = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    assert about["annotations"][RANGE_NOTE] == supported_range()
    tag = yaml.safe_load((OPERATOR / "kustomization.yaml").read_text(encoding="utf-8"))["images"][0]["newTag"]
    assert is_supported(tag.removeprefix("v"))
    assert [is_too_old(one) for one in ("1.6.2", "1.7.0", "1.9.0")] == [True, False, False]
    assert [is_supported(one) for one in ("1.6.2", "1.8.0", "1.9.0")] == [False, True, False]


def test_the_support_matrix_names_the_range_of_the_chart() -> None:
    page = (REPOSITORY / "docs" / "kubernetes.md").read_text(encoding="utf-8")
    assert re.findall(r"`(>=1[^`]*)`", page) == [supported_range()]


@pytest.mark.parametrize("options", [[], ["--dry-run=server"]], ids=["launch", "dry run"])
def test_an_operator_that_is_too_old_is_an_error_before_anything_is_created(
    reader: Cluster, suphx: Command, options: list[str]
) -> None:
    reader.put("deployments", deployment("quay.io/kuberay/operator:v1.6.2"))
    code, _, err = suphx("launch", str(RECIPE), *options)
    assert code == 1
    assert f"is 1.6.2, and the chart supports {supported_range()}: upgrade the operator" in err
    assert reader.names("rayjobs") == []


@pytest.mark.parametrize(
    ("version", "warns"), [("v1.7.0", False), ("v1.8.0", False), ("v1.9.0", True), ("next", False)]
)
def test_a_newer_operator_is_a_warning(reader: Cluster, suphx: Command, version: str, warns: bool) -> None:
    reader.put("deployments", deployment(f"quay.io/kuberay/operator:{version}"))
    code, result, err = suphx("launch", str(RECIPE))
    assert (code, reader.names("rayjobs")) == (0, [result["run_id"]])
    assert ("warning: the KubeRay operator" in err) == warns


def test_an_operator_that_may_not_be_read_is_not_checked(cluster: Cluster, suphx: Command) -> None:
    cluster.put("deployments", deployment("quay.io/kuberay/operator:v1.6.2"))
    code, _, err = suphx("launch", str(RECIPE))
    assert (code, "1.6.2" in err) == (0, False)
    assert any("deployments/kuberay-operator" in path for _, path in cluster.requests)
