"""Accounts and rights: nobody may do more than what he is for; keys are references."""

from __future__ import annotations

import yaml

from tests.helm.everything import EVERYTHING, Render, find

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
        "rayclusters": {"get", "list"},
        "configmaps": {"get", "list", "create", "patch", "delete"},
        "pods": READ | {"delete"},
        "events": {"list"},
        "pods/log": {"get"},
        "jobs": {"get", "list"},
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
