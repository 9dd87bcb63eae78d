"""Accounts and rights: nobody may do more than what he is for; keys are references."""

from __future__ import annotations

import yaml

from tests.helm.everything import EVERYTHING, Render, find, pods

READ = {"get", "list", "watch"}


def test_the_only_role_is_the_launchers_and_it_has_no_wildcards(render: Render) -> None:
    objects = render(EVERYTHING)
    assert [one["metadata"]["name"] for one in objects if one["kind"] in ("Role", "ClusterRole")] == ["suphx-launcher"]
    rights: dict[str, set[str]] = {}
    for rule in find(objects, "Role", "suphx-launcher")["rules"]:
        for resource in rule["resources"]:
            rights[resource] = set(rule["verbs"])
    assert rights == {
        "rayjobs": READ | {"create", "patch", "delete"},
        "rayclusters": {"get", "list", "patch"},
        "configmaps": {"get", "list", "create", "patch", "delete"},
        "pods": READ | {"delete"},
        "events": {"list"},
        "pods/log": {"get"},
        "jobs": {"get", "list"},
    }


def test_every_pod_has_an_account_of_this_chart(render: Render) -> None:
    objects = render(EVERYTHING)
    accounts = {one["metadata"]["name"] for one in objects if one["kind"] == "ServiceAccount"}
    parts = ("head", "learner", "worker", "submitter", "launcher", "nightly", "mlflow")
    assert accounts == {f"suphx-{part}" for part in parts}
    for where, pod in pods(objects):
        is_check = pod["metadata"]["labels"].get("suphx/role") == "recipe-check"  # before there are accounts
        assert is_check or pod["spec"]["serviceAccountName"] in accounts, where
    assert all(not one["automountServiceAccountToken"] for one in objects if one["kind"] == "ServiceAccount")


def test_no_secret_is_made_and_keys_come_from_named_ones(render: Render) -> None:
    objects = render(EVERYTHING)
    assert [one for one in objects if one["kind"] == "Secret"] == []
    named = set()
    for _, pod in pods(objects):
        for container in pod["spec"]["containers"]:
            for variable in container["env"]:
                if reference := variable.get("valueFrom", {}).get("secretKeyRef"):
                    named.add((reference["name"], reference["key"], variable["name"]))
    same = {(secret, key) for secret, key, variable in named if variable == key}
    user = ("MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD")
    admin = ("MLFLOW_AUTH_ADMIN_USERNAME", "MLFLOW_AUTH_ADMIN_PASSWORD")
    assert same == {
        *(("bucket", key) for key in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")),
        *(("database", key) for key in ("PGUSER", "PGPASSWORD")),
        *(("mlflow-admin", key) for key in (*admin, "MLFLOW_FLASK_SERVER_SECRET_KEY")),
        *((secret, key) for secret in ("mlflow-runs", "mlflow-tournament") for key in user),
    }
    assert {one for one in named if one[1] != one[2]} == {  # the Job that creates the users is the administrator
        *(("mlflow-admin", key, own) for key, own in zip(admin, user, strict=True)),
        *(("mlflow-runs", key, f"RUNS_{key.rpartition('_')[2]}") for key in user),
        *(("mlflow-tournament", key, f"TOURNAMENT_{key.rpartition('_')[2]}") for key in user),
    }


def test_a_role_of_the_cloud_replaces_keys(render: Render) -> None:
    objects = render({**EVERYTHING, "storage": {"address": "s3://bucket/runs"}})
    accounts = {one["metadata"]["name"]: one["metadata"] for one in objects if one["kind"] == "ServiceAccount"}
    role = {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/suphx"}
    assert {name for name, one in accounts.items() if one.get("annotations") == role} == {
        "suphx-head",
        "suphx-learner",
        "suphx-nightly",
    }
    assert "AWS_SECRET_ACCESS_KEY" not in yaml.safe_dump(objects)


def test_clusters_ask_for_a_token(render: Render) -> None:
    objects = render(EVERYTHING)
    assert find(objects, "RayCluster", "suphx")["spec"]["authOptions"] == {"mode": "token"}
    assert find(objects, "RayJob", "first")["spec"]["rayClusterSpec"]["authOptions"] == {"mode": "token"}
