"""What network policies let through, computed as Kubernetes does for pods and namespaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A pod of a cluster."""

    namespace: str
    """The name of its namespace."""
    labels: Labels
    """Of the pod."""


def may_connect(policies: Iterable[dict[str, Any]], source: Peer, target: Peer, port: int, home: str) -> bool:
    """Tell whether ``source`` reaches ``target`` at a TCP port; the policies are those of the namespace ``home``."""
    known = list(policies)
    leaves = _allowed(known, source, target, port, home, "egress")
    return leaves and _allowed(known, target, source, port, home, "ingress")


def _allowed(policies: list[dict[str, Any]], own: Peer, other: Peer, port: int, home: str, direction: str) -> bool:
    if own.namespace != home:
        return True
    selecting = [
        policy["spec"]
        for policy in policies
        if direction.capitalize() in policy["spec"]["policyTypes"]
        and _matches(policy["spec"]["podSelector"], own.labels)
    ]
    if not selecting:
        return True
    key = "from" if direction == "ingress" else "to"
    rules = [rule for spec in selecting for rule in spec.get(direction) or []]
    return any(_has_port(rule, port) and _has_peer(rule.get(key), other, home) for rule in rules)


def _has_port(rule: dict[str, Any], port: int) -> bool:
    ports = rule.get("ports")
    return not ports or any(entry["port"] == port and entry["protocol"] == "TCP" for entry in ports)


def _has_peer(peers: list[dict[str, Any]] | None, other: Peer, home: str) -> bool:
    if not peers:
        return True
    return any(_is_peer(peer, other, home) for peer in peers if "ipBlock" not in peer)


def _is_peer(peer: dict[str, Any], other: Peer, home: str) -> bool:
    if "namespaceSelector" in peer:
        in_namespace = _matches(peer["namespaceSelector"], {"kubernetes.io/metadata.name": other.namespace})
    else:
        in_namespace = other.namespace == home
    return in_namespace and _matches(peer.get("podSelector", {}), other.labels)


def _matches(selector: dict[str, Any], labels: Labels) -> bool:
    fits = all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items())
    return fits and all(_fits(one, labels) for one in selector.get("matchExpressions", []))


def _fits(expression: dict[str, Any], labels: Labels) -> bool:
    assert expression["operator"] == "In", "the only operator that the chart uses"
    return labels.get(expression["key"]) in expression["values"]
