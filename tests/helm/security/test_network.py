"""Who reaches whom."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.helm.everything import EVERYTHING, Render, pods
from tests.helm.security.network_policy import Peer, may_connect

HOME = "mahjong"
STRANGER = Peer(namespace=HOME, labels={"app": "other"})
OPERATOR = Peer(namespace="kuberay-system", labels={"app.kubernetes.io/name": "kuberay-operator"})
OPERATOR_OF_MANIFESTS = Peer(
    namespace="kuberay-system",
    labels={"app.kubernetes.io/name": "kuberay", "app.kubernetes.io/component": "kuberay-operator"},
)
IMPOSTORS = [
    Peer(namespace=place, labels=one.labels)
    for place in (HOME, "monitoring")
    for one in (OPERATOR, OPERATOR_OF_MANIFESTS)
]
NEIGHBOUR = Peer(namespace="kuberay-system", labels={"app": "other"})
PROMETHEUS = Peer(namespace="monitoring", labels={"app": "prometheus"})


@pytest.fixture(scope="module")
def network(render: Render) -> Callable[[str | Peer, str | Peer, int], bool]:
    """Ask whether one pod reaches another; pods are named by where they were found."""
    objects = render(EVERYTHING)
    policies = [one for one in objects if one["kind"] == "NetworkPolicy"]
    peers = {where: Peer(namespace=HOME, labels=pod["metadata"]["labels"]) for where, pod in pods(objects)}

    def reaches(source: str | Peer, target: str | Peer, port: int) -> bool:
        ends = [peers[end] if isinstance(end, str) else end for end in (source, target)]
        return may_connect(policies, ends[0], ends[1], port, HOME)

    return reaches


HEAD, SIMULATOR, SUBMITTER = "RayJob first head", "RayJob first simulator", "RayJob first submitter"
MLFLOW, NIGHTLY = "Deployment suphx-mlflow", "CronJob suphx-nightly"


@pytest.mark.parametrize("port", [6379, 8265, 10001, 40123])
def test_pods_of_ray_reach_each_other_at_every_port(network: Callable[..., bool], port: int) -> None:
    assert network(SIMULATOR, HEAD, port)
    assert network(HEAD, SIMULATOR, port)
    assert network(SIMULATOR, "RayJob first learner", port)


def test_the_dashboard_is_for_the_submitter_and_the_operator(network: Callable[..., bool]) -> None:
    assert network(SUBMITTER, HEAD, 8265)
    assert network(OPERATOR, HEAD, 8265)
    assert network(OPERATOR_OF_MANIFESTS, HEAD, 8265)
    for other in (STRANGER, NEIGHBOUR, PROMETHEUS, NIGHTLY, MLFLOW, *IMPOSTORS):
        assert not network(other, HEAD, 8265), other


def test_prometheus_reads_metrics(network: Callable[..., bool]) -> None:
    assert network(PROMETHEUS, SIMULATOR, 8080)
    assert network(PROMETHEUS, HEAD, 44217)
    assert not network(STRANGER, SIMULATOR, 8080)


def test_browsers_reach_mlflow_through_the_gateway_that_is_named(render: Render, network: Callable[..., bool]) -> None:
    gateway = Peer(namespace="gateway", labels={"app": "gateway"})
    assert network(gateway, MLFLOW, 5000)
    assert not network(gateway, HEAD, 8265)
    without = {**EVERYTHING["mlflow"], "route": {"enabled": False}}
    objects = render({**EVERYTHING, "mlflow": without, "networkPolicy": {"ingressNamespace": ""}})
    policies = [one for one in objects if one["kind"] == "NetworkPolicy"]
    labels = next(pod["metadata"]["labels"] for where, pod in pods(objects) if where == MLFLOW)
    assert not may_connect(policies, gateway, Peer(namespace=HOME, labels=labels), 5000, HOME)


def test_the_ports_of_the_storage_and_of_mlflow_elsewhere_are_open(render: Render) -> None:
    storage = {**EVERYTHING["storage"], "endpointUrl": "http://minio.minio.svc:9000"}
    tracking = {**EVERYTHING["tracking"], "uri": "http://mlflow.example.org"}
    objects = render({**EVERYTHING, "storage": storage, "tracking": tracking, "mlflow": {"enabled": False}})
    policies = [one for one in objects if one["kind"] == "NetworkPolicy"]
    labels = {where: pod["metadata"]["labels"] for where, pod in pods(objects)}
    server = Peer(namespace="elsewhere", labels={})
    for port, is_open in ((9000, True), (80, True), (443, True), (9001, False)):
        assert may_connect(policies, Peer(namespace=HOME, labels=labels[HEAD]), server, port, HOME) == is_open
    assert not may_connect(policies, Peer(namespace=HOME, labels=labels[SIMULATOR]), server, 9000, HOME)


def test_name_servers_elsewhere_can_be_named(render: Render) -> None:
    openshift = {"kubernetes.io/metadata.name": "openshift-dns"}
    address = {"ipBlock": {"cidr": "169.254.169.254/32"}}
    dns = {"peers": [{"namespaceSelector": {"matchLabels": openshift}}, address], "ports": [5353]}
    objects = render({**EVERYTHING, "networkPolicy": {"ingressNamespace": "gateway", "dns": dns}})
    policies = [one for one in objects if one["kind"] == "NetworkPolicy"]
    server = Peer(namespace="openshift-dns", labels={"dns.operator.openshift.io/daemonset-dns": "default"})
    usual = Peer(namespace="kube-system", labels={"k8s-app": "kube-dns"})
    for where, pod in pods(objects):
        own = Peer(namespace=HOME, labels=pod["metadata"]["labels"])
        assert may_connect(policies, own, server, 5353, HOME), where
        assert not may_connect(policies, own, usual, 53, HOME), where
    rules = [
        rule for policy in policies for rule in policy["spec"].get("egress") or [] if address in rule.get("to", [])
    ]
    assert rules
    for rule in rules:
        assert rule["ports"] == [{"port": 5353, "protocol": "UDP"}, {"port": 5353, "protocol": "TCP"}]
