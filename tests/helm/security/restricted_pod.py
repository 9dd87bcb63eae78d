"""The restricted level of Kubernetes' pod security standards, with a read-only root besides."""

from __future__ import annotations

from typing import Any

VOLUMES = {"configMap", "emptyDir", "persistentVolumeClaim", "secret", "projected", "downwardAPI", "csi", "ephemeral"}


def violations(spec: dict[str, Any]) -> list[str]:
    """Return what the restricted level refuses in a pod's spec."""
    found = [f"{key} is set" for key in ("hostNetwork", "hostPID", "hostIPC") if spec.get(key)]
    kinds = {kind for volume in spec.get("volumes", []) for kind in volume if kind != "name"}
    found += [f"a volume of the kind {kind}" for kind in kinds - VOLUMES]
    pod = spec.get("securityContext", {})
    if not pod.get("runAsNonRoot") or pod.get("runAsUser") == 0:
        found.append("the pod may run as root")
    if pod.get("seccompProfile", {}).get("type") != "RuntimeDefault":
        found.append("no seccomp profile")
    for container in spec["containers"] + spec.get("initContainers", []):
        found += [f"{container['name']}: {fault}" for fault in _container_violations(container["securityContext"])]
        found += [f"{container['name']}: hostPort" for port in container.get("ports", []) if "hostPort" in port]
    return found


def _container_violations(security: dict[str, Any]) -> list[str]:
    wanted = {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "runAsNonRoot": True,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    return [f"{key} is {security.get(key)}" for key, value in wanted.items() if security.get(key) != value]
