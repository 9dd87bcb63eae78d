"""What each role of pods can use, computed from all that is rendered: keys, accounts, tokens, volumes, network."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.helm.everything import EVERYTHING, Render, find, parsed, pods
from tests.helm.security.network_policy import Peer, may_connect

HOME = "mahjong"
OUTSIDE = Peer(namespace="elsewhere", labels={})
DNS = Peer(namespace="kube-system", labels={"k8s-app": "kube-dns"})
STORAGE_KEYS = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
TRACKING_KEYS = {"MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD"}
SERVER_KEYS = {
    *("MLFLOW_AUTH_ADMIN_USERNAME", "MLFLOW_AUTH_ADMIN_PASSWORD", "MLFLOW_FLASK_SERVER_SECRET_KEY"),
    *("PGUSER", "PGPASSWORD"),
}
USERS_KEYS = {f"{user}_{key}" for user in ("RUNS", "TOURNAMENT") for key in ("USERNAME", "PASSWORD")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """What one role can use."""

    account: str
    has_token: bool = False
    """Of the API server."""
    keys: frozenset[str] = frozenset()
    """Environment variables that come from secrets."""
    files: frozenset[str] = frozenset()
    """Files of secrets."""
    claims: frozenset[str] = frozenset()
    """PersistentVolumeClaims, with ``:ro`` if they can only be read."""
    connects: frozenset[str] = field(default_factory=frozenset)
    """outside: any address; ray: a head's dashboard; mlflow."""


def rights(
    account: str, keys: set[str], claims: str, connects: str, *, files: str = "", has_token: bool = False
) -> Rights:
    files = files or ("mlflow-tls:ca.crt" if keys >= TRACKING_KEYS else "")
    return Rights(
        account=account,
        has_token=has_token,
        keys=frozenset(keys),
        files=frozenset(files.split()),
        claims=frozenset(claims.split()),
        connects=frozenset(connects.split()),
    )


EXPECTED = {
    "head": rights("head", STORAGE_KEYS | TRACKING_KEYS, "runs records:ro", "ray mlflow outside", has_token=True),
    "learner": rights("learner", STORAGE_KEYS, "runs records:ro", "ray outside"),
    "simulator": rights("worker", set(), "", "ray"),
    "inference": rights("worker", set(), "", "ray"),
    "submitter": rights("submitter", set(), "", "ray"),
    "nightly": rights("nightly", STORAGE_KEYS | TRACKING_KEYS, "runs", "mlflow outside"),
    "mlflow": rights(
        "mlflow", STORAGE_KEYS | SERVER_KEYS, "suphx-mlflow", "outside", files="mlflow-tls:tls.crt mlflow-tls:tls.key"
    ),
    "mlflow-users": rights("worker", TRACKING_KEYS | USERS_KEYS, "", "mlflow"),
    "recipe-check": rights("default", set(), "runs:ro", ""),
    "test-image": rights("worker", set(), "", ""),
    "test-launcher": rights("launcher", set(), "", "outside", has_token=True),
    "test-mlflow": rights("worker", TRACKING_KEYS, "", "mlflow"),
}
"""Every role, and everything that its pods can use."""


def role_of(pod: dict[str, Any]) -> str:
    labels = pod["metadata"]["labels"]
    return str(labels.get("suphx/role", labels["app.kubernetes.io/component"]))


def computed(objects: list[dict[str, Any]], pod: dict[str, Any]) -> Rights:
    """Return what a pod can use."""
    spec = pod["spec"]
    containers = [*spec["containers"], *spec.get("initContainers", [])]
    variables = [one for container in containers for one in container.get("env", [])]
    keys = {one["name"] for one in variables if "secretKeyRef" in one.get("valueFrom", {})}
    assert not any("secretRef" in source for container in containers for source in container.get("envFrom", ()))
    assert not any("projected" in volume for volume in spec.get("volumes", []))
    secrets = [volume["secret"] for volume in spec.get("volumes", []) if "secret" in volume]
    account = spec.get("serviceAccountName", "default")  # of the namespace, as the chart's do not exist yet
    if account != "default":
        assert find(objects, "ServiceAccount", account)["automountServiceAccountToken"] is False
    return Rights(
        account=account.removeprefix("suphx-"),
        has_token=spec["automountServiceAccountToken"],
        keys=frozenset(keys),
        files=frozenset(f"{one['secretName']}:{item['key']}" for one in secrets for item in one["items"]),
        claims=frozenset(_claims(spec)),
        connects=frozenset(_connections(objects, pod)),
    )


def _claims(spec: dict[str, Any]) -> set[str]:
    claims = [one["persistentVolumeClaim"] for one in spec.get("volumes", []) if "persistentVolumeClaim" in one]
    return {f"{one['claimName']}{':ro' if one.get('readOnly') else ''}" for one in claims}


def _connections(objects: list[dict[str, Any]], pod: dict[str, Any]) -> set[str]:
    policies = [one for one in objects if one["kind"] == "NetworkPolicy"]
    peers = {where: Peer(namespace=HOME, labels=one["metadata"]["labels"]) for where, one in pods(objects)}
    own = Peer(namespace=HOME, labels=pod["metadata"]["labels"])
    assert may_connect(policies, own, DNS, 53, HOME)
    ends = {
        "outside": (OUTSIDE, 443),
        "ray": (peers["RayJob first head"], 8265),
        "mlflow": (peers["Deployment suphx-mlflow"], 5000),
    }
    for port in (22, 80, 5000, 8080):  # of hosts outside
        assert not may_connect(policies, own, OUTSIDE, port, HOME)
    return {name for name, (peer, port) in ends.items() if may_connect(policies, own, peer, port, HOME)}


@pytest.mark.parametrize("preset", ["small", "laptop-kind", "paper"])
def test_every_role_can_use_what_it_needs_and_nothing_else(render: Render, preset: str) -> None:
    objects = render({**EVERYTHING, "preset": preset})
    found: dict[str, set[Rights]] = {}
    for _, pod in pods(objects):
        found.setdefault(role_of(pod), set()).add(computed(objects, pod))
    assert found == {role: {one} for role, one in EXPECTED.items()}


def test_simulators_and_engines_reach_nothing_but_their_cluster_whatever_the_values(render: Render) -> None:
    external = {**EVERYTHING, "mlflow": {}, "tracking": {"uri": "https://mlflow.example.org", "secretName": "user"}}
    for values in (external, {**external, "autoscaling": {"enabled": False}}):
        objects = render(values)
        policies = [one for one in objects if one["kind"] == "NetworkPolicy"]
        for where, pod in pods(objects):
            own = Peer(namespace=HOME, labels=pod["metadata"]["labels"])
            reaches_outside = may_connect(policies, own, OUTSIDE, 443, HOME)
            roles = ("head", "learner", "nightly", "test-launcher", "test-mlflow")
            assert reaches_outside == (role_of(pod) in roles), where


def test_only_roles_with_the_storage_have_a_role_of_the_cloud(render: Render) -> None:
    objects = render(EVERYTHING)
    with_role = {one["metadata"]["name"] for one in objects if one["kind"] == "ServiceAccount" and _is_annotated(one)}
    accounts = {f"suphx-{one.account}" for one in EXPECTED.values() if one.keys >= STORAGE_KEYS}
    assert with_role == accounts - {"suphx-mlflow"}  # which has annotations of its own: mlflow.annotations


def _is_annotated(account: dict[str, Any]) -> bool:
    return bool(account["metadata"].get("annotations"))


def test_a_night_on_several_pods_launches_without_keys_and_plays_as_the_tournament(render: Render) -> None:
    objects = render({**EVERYTHING, "nightly": {**EVERYTHING["nightly"], "workers": 2}})
    found = {role_of(pod): computed(objects, pod) for _, pod in pods(objects)}
    assert "nightly" not in found
    assert found["nightly-launcher"] == rights("nightly", set(), "", "outside", has_token=True)
    assert not _is_annotated(find(objects, "ServiceAccount", "suphx-nightly"))
    template = find(objects, "ConfigMap", "suphx-run-template")["data"]["tournament.yaml"]
    for where, pod in pods([parsed(template)]):
        assert computed(objects, pod) == EXPECTED[role_of(pod)], where
        references = [one.get("valueFrom", {}).get("secretKeyRef", {}) for one in pod["spec"]["containers"][0]["env"]]
        users = {one["name"] for one in references if one.get("key") == "MLFLOW_TRACKING_USERNAME"}
        assert users == ({"mlflow-tournament"} if role_of(pod) == "head" else set()), where
