"""Wrong values are refused, with a message that names the value."""

from __future__ import annotations

from typing import Any

import pytest
from helm_python import Chart, HelmError, HelmValuesError

MLFLOW = {"enabled": True, "authSecretName": "admin"}
ROUTE = {"enabled": True, "hostnames": ["a.org"], "parentRefs": [{"name": "g"}]}
RUNS = {"secretName": "runs"}
SIZE = {"cpu": "1", "memory": "2Gi", "objectStoreGi": 1, "disk": "1Gi"}
BUCKET = {"address": "s3://bucket/runs"}
NIGHT = {"enabled": True, "recipe": "x"}

REFUSED_BY_SCHEMA: list[tuple[dict[str, Any], str]] = [
    ({"presett": "small"}, "presett"),
    ({"run": {"name": "r" * 48}}, "/run/name"),
    ({"run": {"learningRate": 0.1}}, "/run"),
    ({"run": {"backoffLimit": 2**31}}, "/run/backoffLimit"),
    ({"alerts": {"enabled": True}}, "/alerts/enabled"),
    ({"nightly": {"schedule": "nightly"}}, "/nightly/schedule"),
    ({"storage": {"address": "bucket/runs"}}, "/storage/address"),
    ({"storage": {"address": "s3://me:pw@bucket/runs"}}, "/storage/address"),
    ({"storage": {"secretAccessKey": "x"}}, "/storage"),
    ({"tracking": {"uri": "http://me:pw@mlflow:5000"}}, "/tracking/uri"),
    ({"mlflow": {"databaseUri": "postgresql://me:secret@db/x"}}, "/mlflow/databaseUri"),
    ({"launcher": {"subjects": [{"kind": "Person", "name": "me"}]}}, "/launcher/subjects/0/kind"),
    ({"networkPolicy": {"egressPorts": [70000]}}, "/networkPolicy/egressPorts/0"),
    ({"extraEnv": {"head": [{"value": "1"}]}}, "/extraEnv/head/0"),
    ({"presets": {"small": {"head": {"memory": "4Gi"}}}}, "/presets/small/head/memory"),
    ({"presets": {"mine": {"head": SIZE}}}, "/presets/mine"),
]

REFUSED_BY_TEMPLATES: list[tuple[dict[str, Any], str]] = [
    ({"preset": "huge"}, "preset"),
    ({"run": {"name": "first"}}, "run.recipe"),
    ({"rayVersion": "2.40.0"}, "rayVersion"),
    ({"nightly": NIGHT, "tracking": {"uri": "http://m"}}, "storage.address"),
    ({"nightly": NIGHT, "storage": BUCKET}, "MLflow server"),
    (
        {
            "nightly": {**NIGHT, "workers": 2, "activeDeadlineSeconds": 43200},
            "tracking": {"uri": "http://m"},
            "storage": BUCKET,
        },
        "nightly.activeDeadlineSeconds",
    ),
    # As after `helm upgrade --reuse-values` of a release whose chart did not have the value.
    ({"run": {"saveSeconds": None}}, "run.saveSeconds"),
    ({"tracking": {"uri": "http://m"}, "mlflow": {"enabled": True}}, "tracking.uri"),
    ({"mlflow": {"enabled": True}}, "mlflow.authSecretName"),
    ({"mlflow": MLFLOW}, "tracking.secretName"),
    ({"mlflow": MLFLOW, "tracking": RUNS, "storage": BUCKET, "nightly": NIGHT}, "nightly.trackingSecretName"),
    ({"mlflow": MLFLOW, "tracking": RUNS, "nightly": {"trackingSecretName": "runs"}}, "are the same"),
    ({"mlflow": {**MLFLOW, "route": {"enabled": True}}, "tracking": RUNS}, "mlflow.route.hostnames"),
    ({"mlflow": {**MLFLOW, "route": ROUTE}, "tracking": RUNS}, "networkPolicy.ingressNamespace"),
    ({"mlflow": {"databaseUri": "postgresql://db/x"}}, "mlflow.databaseSecretName"),
    ({"presets": {"small": {"simulator": {"maxReplicas": 1}}}}, "presets.small.simulator"),
    ({"presets": {"small": {"simulator": {"minReplicas": 0, "replicas": 0}}}}, "presets.small.simulator"),
    ({"presets": {"small": {"inference": {"slots": 101}}}}, "presets.small.inference"),
    ({"presets": {"small": {"inference": {"gpus": 8}}}}, "8 GPUs for 3 slots"),
    ({"presets": {"small": {"head": {"objectStoreGi": 16}}}}, "objectStoreGi"),
]


@pytest.mark.parametrize(("values", "name"), REFUSED_BY_SCHEMA, ids=lambda value: str(value)[:60])
def test_the_schema_refuses_wrong_values(chart: Chart, values: dict[str, Any], name: str) -> None:
    with pytest.raises(HelmValuesError) as refused:
        chart.validate_schema(values)
    assert name in str(refused.value)


@pytest.mark.parametrize(("values", "name"), REFUSED_BY_TEMPLATES, ids=lambda value: str(value)[:60])
def test_values_that_do_not_fit_each_other_are_refused(chart: Chart, values: dict[str, Any], name: str) -> None:
    with pytest.raises(HelmError) as refused:
        chart.render(values, name="suphx", namespace="mahjong")
    assert name in str(refused.value)


def test_a_preset_of_ones_own_is_taken(chart: Chart) -> None:
    mine = {
        "head": {**SIZE, "memory": "8Gi"},
        "simulator": {**SIZE, "replicas": 3, "minReplicas": 1, "maxReplicas": 3, "slots": 1},
        "inference": {**SIZE, "replicas": 0, "slots": 1, "gpus": 0},
        "learner": {**SIZE, "replicas": 1, "gpus": 0, "buffers": 1},
    }
    texts = chart.render({"preset": "mine", "presets": {"mine": mine}}, name="suphx")
    assert "num_simulators=3 --set reinforcement.cluster.num_engines=0" in texts["suphx/templates/run/template.yaml"]
