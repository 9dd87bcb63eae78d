"""Wrong values are refused, with a message that names the value and what is allowed."""

from __future__ import annotations

from typing import Any

import pytest
from helm_python import Chart, HelmError, HelmValuesError

MLFLOW = {"enabled": True, "authSecretName": "admin"}
SIZE = {"cpu": "1", "memory": "2Gi", "objectStoreGi": 1, "disk": "1Gi"}

REFUSED_BY_SCHEMA: list[tuple[dict[str, Any], str]] = [
    ({"presett": "small"}, "additional properties 'presett' not allowed"),
    ({"preset": 3}, "'/preset': got number, want string"),
    ({"image": {"pullPolicy": "Sometimes"}}, "'/image/pullPolicy': value must be one of 'Always', 'IfNotPresent'"),
    ({"image": {"tag": "a b"}}, "'/image/tag': 'a b' does not match"),
    ({"rayVersion": "2.60"}, "'/rayVersion': '2.60' does not match"),
    ({"run": {"name": "My_Run"}}, "'/run/name': 'My_Run' does not match"),
    ({"run": {"name": "r" * 48}}, "'/run/name': maxLength: got 48, want 47"),
    ({"run": {"learningRate": 0.1}}, "'/run': additional properties 'learningRate' not allowed"),
    ({"run": {"arguments": ["--set seed=7"]}}, "'/run/arguments/0': '--set seed=7' does not match"),
    ({"run": {"arguments": ["--set", "seed=$HOME"]}}, "'/run/arguments/1': 'seed=$HOME' does not match"),
    ({"storage": {"address": "s3://bucket/a;b"}}, "'/storage/address': 's3://bucket/a;b' does not match"),
    ({"alerts": {"enabled": True}}, "'/alerts/enabled': value must be one of 'auto', 'always', 'never'"),
    ({"run": {"backoffLimit": -1}}, "'/run/backoffLimit': minimum: got -1, want 0"),
    ({"run": {"activeDeadlineSeconds": 0}}, "'/run/activeDeadlineSeconds': minimum: got 0, want 1"),
    ({"cluster": {"enabled": "yes"}}, "'/cluster/enabled': got string, want boolean"),
    ({"nightly": {"schedule": "nightly"}}, "'/nightly/schedule': 'nightly' does not match"),
    ({"nightly": {"workers": -1}}, "'/nightly/workers': minimum: got -1, want 0"),
    ({"nightly": {"backoffLimit": -1}}, "'/nightly/backoffLimit': minimum: got -1, want 0"),
    ({"nightly": {"cpu": "500m"}}, "'/nightly/cpu': '500m' does not match"),
    ({"storage": {"address": "bucket/runs"}}, "'/storage/address': 'bucket/runs' does not match pattern '^$|^s3://"),
    ({"storage": {"endpointUrl": "s3.example.org"}}, "'/storage/endpointUrl': 's3.example.org' does not match"),
    ({"storage": {"secretAccessKey": "x"}}, "'/storage': additional properties 'secretAccessKey' not allowed"),
    ({"storage": {"endpointUrl": "https://me:pw@s3.example.org"}}, "/storage/endpointUrl': 'https://me:pw@s3"),
    ({"storage": {"address": "s3://me:pw@bucket/runs"}}, "/storage/address': 's3://me:pw@bucket/runs' does not match"),
    ({"tracking": {"uri": "http://me:pw@mlflow:5000"}}, "/tracking/uri': 'http://me:pw@mlflow:5000' does not match"),
    ({"tracking": {"uri": "mlflow:5000"}}, "'/tracking/uri': 'mlflow:5000' does not match"),
    ({"mlflow": {"databaseUri": "postgresql://me:secret@db/x"}}, "'/mlflow/databaseUri': 'postgresql://me:"),
    ({"mlflow": {"memory": "lots"}}, "'/mlflow/memory': 'lots' does not match"),
    ({"launcher": {"subjects": [{"kind": "Person", "name": "me"}]}}, "'/launcher/subjects/0/kind': value must be one"),
    ({"networkPolicy": {"egressPorts": [70000]}}, "'/networkPolicy/egressPorts/0': maximum: got 70,000, want 65,535"),
    ({"networkPolicy": {"dns": {"peers": []}}}, "'/networkPolicy/dns/peers': minItems: got 0, want 1"),
    ({"networkPolicy": {"dns": {"ports": [0]}}}, "'/networkPolicy/dns/ports/0': minimum: got 0, want 1"),
    ({"run": {"backoffLimit": 2**31}}, "'/run/backoffLimit': maximum: got 2.147483648×10⁰⁹"),
    ({"podMonitor": {"interval": 30}}, "'/podMonitor/interval': got number, want string"),
    ({"nameOverride": "My Chart"}, "'/nameOverride': 'My Chart' does not match"),
    ({"extraEnv": {"head": [{"value": "1"}]}}, "'/extraEnv/head/0': missing property 'name'"),
    ({"podAnnotations": {"gpu": {}}}, "'/podAnnotations': additional properties 'gpu' not allowed"),
    ({"placement": {"gpu": {}}}, "'/placement': additional properties 'gpu' not allowed"),
    ({"presets": {"small": {"head": {"memory": "4Gi"}}}}, "'/presets/small/head/memory': '4Gi' does not match"),
    ({"presets": {"small": {"head": {"cpu": 4}}}}, "'/presets/small/head/cpu': got number, want string"),
    ({"presets": {"mine": {"head": SIZE}}}, "'/presets/mine': missing properties 'simulator', 'inference', 'learner'"),
    ({"presets": {"small": {"learner": {"gpus": -1}}}}, "'/presets/small/learner/gpus': minimum: got -1, want 0"),
    (
        {"presets": {"small": {"learner": {"buffers": 99}}}},
        "'/presets/small/learner/buffers': maximum: got 99, want 98",
    ),
]

REFUSED_BY_TEMPLATES: list[tuple[dict[str, Any], str]] = [
    ({"preset": "huge"}, 'preset is "huge": use one of laptop-kind, paper, small'),
    ({"run": {"name": "first"}}, "run.name is set without run.recipe: add --set-file"),
    ({"rayVersion": "2.40.0"}, "rayVersion is 2.40.0: the chart uses token authentication, which needs Ray 2.52.0"),
    ({"nightly": {"enabled": True}}, "nightly.enabled needs a recipe: add --set-file"),
    ({"nightly": {"enabled": True, "recipe": "x"}}, "nightly.enabled needs an MLflow server"),
    (
        {
            "nightly": {"enabled": True, "recipe": "x", "workers": 2, "activeDeadlineSeconds": 12 * 3600},
            "tracking": {"uri": "http://m"},
            "storage": {"address": "s3://bucket/runs"},
        },
        "nightly.activeDeadlineSeconds is 43200: each of the 2 attempts",
    ),
    (
        {
            "nightly": {"enabled": True, "recipe": "x", "workers": 2, "activeDeadlineSeconds": 1800},
            "run": {"waitHours": 0.9},
            "tracking": {"uri": "http://m"},
            "storage": {"address": "s3://bucket/runs"},
        },
        "nightly.activeDeadlineSeconds is 1800: each of the 2 attempts",
    ),
    (
        {"nightly": {"enabled": True, "recipe": "x"}, "tracking": {"uri": "http://m"}},
        "nightly.enabled needs storage.address, from which the tournament reads",
    ),
    (
        {"nightly": {"enabled": True, "recipe": "x", "workers": 2}, "tracking": {"uri": "http://m"}},
        "nightly.enabled needs storage.address, from which the tournament reads",
    ),
    # As after `helm upgrade --reuse-values` of a release whose chart did not have the value.
    ({"run": {"saveSeconds": None}}, "run.saveSeconds is missing, which a head needs to save its run"),
    ({"tracking": {"uri": "http://m"}, "mlflow": {"enabled": True}}, "tracking.uri and mlflow.enabled are both set"),
    ({"mlflow": {"enabled": True}}, "mlflow.enabled needs mlflow.authSecretName, the secret of the administrator"),
    ({"mlflow": MLFLOW}, "mlflow.enabled needs tracking.secretName, the secret with user and password of runs"),
    (
        {
            "mlflow": MLFLOW,
            "tracking": {"secretName": "runs"},
            "storage": {"address": "s3://bucket/runs"},
            "nightly": {"enabled": True, "recipe": "x"},
        },
        "nightly.enabled needs nightly.trackingSecretName, the secret with user and password of the tournament",
    ),
    (
        {"mlflow": MLFLOW, "tracking": {"secretName": "runs"}, "nightly": {"trackingSecretName": "runs"}},
        "nightly.trackingSecretName and tracking.secretName are the same: runs could move the champion",
    ),
    (
        {"mlflow": {**MLFLOW, "route": {"enabled": True}}, "tracking": {"secretName": "runs"}},
        "mlflow.route.enabled needs mlflow.route.hostnames and mlflow.route.parentRefs",
    ),
    (
        {
            "mlflow": {**MLFLOW, "route": {"enabled": True, "hostnames": ["a.org"], "parentRefs": [{"name": "g"}]}},
            "tracking": {"secretName": "runs"},
        },
        "mlflow.route.enabled needs networkPolicy.ingressNamespace",
    ),
    ({"mlflow": {"databaseUri": "postgresql://db/x"}}, "without mlflow.databaseSecretName: set it to the secret"),
    (
        {"presets": {"small": {"simulator": {"maxReplicas": 1}}}},
        "presets.small.simulator: minReplicas 1, replicas 2 and maxReplicas 1 must be in ascending order",
    ),
    (
        {"presets": {"small": {"simulator": {"minReplicas": 0, "replicas": 0}}}},
        "presets.small.simulator has no slots: use at least 1 for replicas",
    ),
    (
        {"presets": {"small": {"inference": {"slots": 101}}}},
        "presets.small.inference: 101 slots for 1 GPUs; at most 100 engines share a GPU, so reduce slots",
    ),
    ({"presets": {"small": {"inference": {"gpus": 8}}}}, "8 GPUs for 3 slots; an engine uses at most one GPU"),
    (
        {"presets": {"small": {"head": {"objectStoreGi": 16}}}},
        "objectStoreGi 16 must be smaller than memory 16Gi",
    ),
]


@pytest.mark.parametrize(("values", "message"), REFUSED_BY_SCHEMA, ids=lambda value: str(value)[:60])
def test_the_schema_refuses_wrong_values(chart: Chart, values: dict[str, Any], message: str) -> None:
    with pytest.raises(HelmValuesError) as refused:
        chart.validate_schema(values)
    assert message in str(refused.value)


@pytest.mark.parametrize(("values", "message"), REFUSED_BY_TEMPLATES, ids=lambda value: str(value)[:60])
def test_values_that_do_not_fit_each_other_are_refused(chart: Chart, values: dict[str, Any], message: str) -> None:
    chart.validate_schema(values)
    with pytest.raises(HelmError) as refused:
        chart.render(values, name="suphx", namespace="mahjong")
    assert message in str(refused.value)


def test_a_preset_of_ones_own_is_taken(chart: Chart) -> None:
    mine = {
        "head": {**SIZE, "memory": "8Gi"},
        "simulator": {**SIZE, "replicas": 3, "minReplicas": 1, "maxReplicas": 3, "slots": 1},
        "inference": {**SIZE, "replicas": 0, "slots": 1, "gpus": 0},
        "learner": {**SIZE, "replicas": 1, "gpus": 0, "buffers": 1},
    }
    texts = chart.render({"preset": "mine", "presets": {"mine": mine}}, name="suphx")
    assert "num_simulators=3 --set reinforcement.cluster.num_engines=0" in texts["suphx/templates/run/template.yaml"]
