from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from suphx_platform.cluster.cluster_api import ClusterApi
from suphx_platform.cluster.cluster_error import ClusterError


def kubeconfig(**changes: Any) -> str:
    contexts = [
        {"name": "home", "context": {"cluster": "c", "user": "u"}},
        {"name": "work", "context": {"cluster": "c", "user": "u", "namespace": "mahjong"}},
    ]
    config = {
        "apiVersion": "v1",
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:9"}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": contexts,
        "current-context": "home",
    }
    return json.dumps(config | changes)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "kubeconfig"
    monkeypatch.setenv("KUBECONFIG", str(path))
    return path


def test_a_context_says_the_namespace(path: Path) -> None:
    path.write_text(kubeconfig())
    assert ClusterApi().namespace == "default"
    assert ClusterApi(context="work").namespace == "mahjong"


@pytest.mark.parametrize("current", [{}, {"current-context": ""}, {"current-context": "gone"}])
def test_a_context_that_is_named_needs_no_current_one(path: Path, current: dict[str, str]) -> None:
    config = json.loads(kubeconfig())
    del config["current-context"]
    path.write_text(json.dumps(config | current))
    assert ClusterApi(context="work").namespace == "mahjong"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("contexts: [\n  {{{\n", r"while parsing a flow node .* line 3, column 1"),
        ("just text", "it is not a kubeconfig"),
        ('{"contexts": {"home": 1}}', "it is not a kubeconfig|Invalid kube-config"),
        ("", "Invalid kube-config"),
        (kubeconfig(**{"current-context": "gone"}), "Expected object with name gone in .*contexts list"),
        (kubeconfig(**{"current-context": ""}), "Invalid kube-config"),
        (kubeconfig(clusters=[]), "Expected object with name c in .*clusters list"),
    ],
)
def test_a_damaged_file_is_named_with_what_is_wrong(path: Path, text: str, cause: str) -> None:
    path.write_text(text)
    advice = r"Correct it, set KUBECONFIG to another file, or choose one of its contexts with --context"
    with pytest.raises(ClusterError, match=rf"kubeconfig cannot be used \(.*({cause}).*\)\. {advice}"):
        ClusterApi()


def test_an_unknown_context_lists_those_that_there_are(path: Path) -> None:
    path.write_text(kubeconfig())
    with pytest.raises(ClusterError, match=r"name nosuch in .*kubeconfig.* --context: home, work"):
        ClusterApi(context="nosuch")


def test_without_a_file_nothing_is_guessed(path: Path) -> None:
    with pytest.raises(ClusterError, match=r"KUBECONFIG names .*kubeconfig, which does not exist\. Set KUBECONFIG"):
        ClusterApi()


def test_without_any_configuration_the_first_step_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ClusterError, match=r"^No cluster configured\. Set KUBECONFIG to your kubeconfig file "):
        ClusterApi()
