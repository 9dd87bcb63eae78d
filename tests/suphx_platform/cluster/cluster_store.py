"""What the fake API server stores, and the rules by which objects change, are refused and go."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Object = dict[str, Any]

NAMESPACE = "suphx"
TOKEN = "token-of-the-test"
KINDS = {
    "configmaps": "ConfigMap",
    "pods": "Pod",
    "events": "Event",
    "jobs": "Job",
    "rayjobs": "RayJob",
    "rayclusters": "RayCluster",
}
GROUPS = {"configmaps": "", "pods": "", "events": "", "jobs": "batch", "rayjobs": "ray.io", "rayclusters": "ray.io"}
_VERSIONS = {"": "v1", "batch": "batch/v1", "ray.io": "ray.io/v1"}
_FIELDS = """activeDeadlineSeconds backoffLimit clusterSelector deletionStrategy entrypoint entrypointNumCpus
    entrypointNumGpus entrypointResources jobId managedBy metadata preRunningDeadlineSeconds rayClusterSpec
    runtimeEnvYAML shutdownAfterJobFinishes submissionMode submitterConfig submitterPodTemplate suspend
    ttlSecondsAfterFinished"""
RAYJOB_FIELDS = frozenset(_FIELDS.split())
"""Fields of a RayJob's spec in KubeRay 1.7; tests/helm/test_manifest_rules.py compares them with the CRD."""


def now() -> str:
    """Return the time as the API writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class RefusedError(Exception):
    """An answer of the server with an HTTP status."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status, self.reason = status, reason


@dataclass
class Fault:
    """What is done instead of answering: an HTTP status, or a connection that breaks off (0)."""

    method: str
    path: str
    status: int
    times: int = 1
    is_done_first: bool = False
    """Carry the request out before the connection breaks."""


@dataclass
class Reaction:
    """What another client does when a request arrives, before the server answers it."""

    method: str
    path: str
    act: Callable[[], None]
    after: int = 0
    """How many such requests are answered first."""


@dataclass
class Cluster:
    """What the server holds."""

    objects: dict[tuple[str, str], Object] = field(default_factory=dict)
    version: int = 100
    events: list[tuple[int, str, str, Object]] = field(default_factory=list)
    oldest_event: int = 0
    """Watches from an older version are told that it is gone."""
    logs: dict[str, list[str]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)
    rules: list[Object] | None = None
    """The rules of the caller's Role; None: everything is allowed."""
    used_rights: set[tuple[str, str, str]] = field(default_factory=set)
    """API group, resource and verb of each request that was allowed."""
    quota: dict[str, int] = field(default_factory=dict)
    """At most so many objects of a kind."""
    uncounted: dict[str, int] = field(default_factory=dict)
    """How many creations of a kind are refused because the quota controller has not counted its objects yet."""
    keeps_pods: bool = False
    """Whether deleted pods terminate until ``end_pods``: a head runs its preStop hook."""
    pre_stop: Callable[[Object], str] = lambda pod: '{"stopped": {}}'
    """What the hook of a head does when its pod ends; returns the termination message that it writes."""
    reactions: list[Reaction] = field(default_factory=list)
    """Each happens once."""
    before_patch: list[Callable[[Object], None]] = field(default_factory=list)
    """Called once each, with what is to be patched: somebody else who is quicker."""
    operator: Callable[[str, Object], None] | None = None
    """Called with kind and object after every change, as KubeRay's operator is."""
    changed: threading.Condition = field(default_factory=threading.Condition)

    def put(self, kind: str, body: Object, *, is_told: bool = True) -> Object:
        """Store an object as if somebody else had; ``is_told``: call the operator."""
        with self.changed:
            body.setdefault("apiVersion", _VERSIONS[GROUPS[kind]])
            body.setdefault("kind", KINDS[kind])
            name = body["metadata"]["name"]
            is_new = (kind, name) not in self.objects
            self.version += 1
            metadata = body["metadata"]
            metadata.setdefault("uid", f"uid-{self.version}")
            metadata.setdefault("creationTimestamp", now())
            metadata |= {"resourceVersion": str(self.version), "namespace": NAMESPACE}
            self.objects[kind, name] = body
            self._tell(kind, "ADDED" if is_new else "MODIFIED", body)
        if is_told:
            self.after_change(kind, body)
        return body

    def create(self, kind: str, body: Object) -> Object:
        """Store a new object; RefusedError if there is one."""
        with self.changed:
            self.check_new(kind, body["metadata"]["name"])
            body.pop("status", None)
            self.put(kind, body, is_told=False)
        answer = copy.deepcopy(body)
        self.after_change(kind, body)
        return answer

    def after_change(self, kind: str, body: Object) -> None:
        """Remove what has lost its last finalizer, else let the operator see the change."""
        if body["metadata"].get("deletionTimestamp") and not body["metadata"].get("finalizers") and kind != "pods":
            if (kind, body["metadata"]["name"]) in self.objects:
                self.remove(kind, body["metadata"]["name"])
        elif self.operator is not None:
            self.operator(kind, body)

    def delete(self, kind: str, name: str, *, grace: int | None = None) -> None:
        """Delete an object as the server does: finalizers come first, and pods terminate for a while.

        ``grace``: seconds after which a pod is killed, whatever its hook does; None: after its own, very long time.
        """
        body = self.found(kind, name)
        if body["metadata"].get("finalizers") or (kind == "pods" and self.keeps_pods and grace is None):
            self.put(kind, {**body, "metadata": {**body["metadata"], "deletionTimestamp": now()}})
        elif kind == "pods":
            is_head = body["metadata"]["labels"].get("suphx/role") == "head"
            self.end_pod(name, self.pre_stop(body) if is_head and grace is None else "")
        else:
            self.remove(kind, name)

    def end_pod(self, name: str, message: str) -> None:
        """End a pod that is deleted; its status shows how before it is removed, as the kubelet has it."""
        body = self.found("pods", name)
        ended = [
            {"name": one["name"], "state": {"terminated": {"exitCode": 0, "message": message}}}
            for one in body["status"].get("containerStatuses") or ()
        ]
        self.put("pods", {**body, "status": {**body["status"], "phase": "Failed", "containerStatuses": ended}})
        self.remove("pods", name)

    def end_pods(self) -> None:
        """Remove the pods that terminate; from now on deleted pods are removed at once."""
        self.keeps_pods = False
        for name in self.names("pods"):
            if self.objects["pods", name]["metadata"].get("deletionTimestamp"):
                self.remove("pods", name)

    def react(self, method: str, path: str) -> None:
        """Let other clients do what they do when this request arrives."""
        with self.changed:
            fitting = [one for one in self.reactions if one.method == method and one.path in path]
            due = [one for one in fitting if not one.after]
            for one in fitting:
                one.after -= 1
            self.reactions = [one for one in self.reactions if one not in due]
        for one in due:
            one.act()

    def remove(self, kind: str, name: str) -> None:
        """Take an object away, and delete what it owns."""
        with self.changed:
            gone = self.objects.pop((kind, name))
            self.version += 1
            self._tell(kind, "DELETED", gone)
            owned = [key for key, one in self.objects.items() if _is_owned(one, gone["metadata"]["uid"])]
        for key in owned:
            if key in self.objects:
                self.delete(*key)

    def found(self, kind: str, name: str) -> Object:
        """Return a copy of an object; RefusedError if there is none."""
        with self.changed:
            if (kind, name) not in self.objects:
                raise RefusedError(404, "NotFound", f'{kind} "{name}" not found')
            return copy.deepcopy(self.objects[kind, name])

    def names(self, kind: str) -> list[str]:
        """Return the names of all objects of a kind."""
        return [name for one, name in self.objects if one == kind]

    def forget(self) -> None:
        """Have every watch that begins from now told that its version is gone, once."""
        with self.changed:
            self.oldest_event = self.version + 1

    def wait_for(self, is_so: Callable[[], bool], seconds: float = 10.0) -> None:
        """Wait until something holds after a change."""
        ends_at = time.monotonic() + seconds
        with self.changed:
            while not is_so():
                assert time.monotonic() < ends_at, "it did not come to be in time"
                self.changed.wait(0.05)

    def check_new(self, kind: str, name: str) -> None:
        """Refuse a name that is taken."""
        if (kind, name) in self.objects:
            raise RefusedError(409, "AlreadyExists", f'{kind} "{name}" already exists')

    def check_quota(self, kind: str) -> None:
        """Refuse one object more than the quota allows, in the words of the real server."""
        used, most = len(self.names(kind)), self.quota.get(kind)
        counted = f"count/{kind}.{GROUPS[kind]}".rstrip(".")
        message = ""
        if self.uncounted.get(kind):
            self.uncounted[kind] -= 1
            message = f"status unknown for quota: suphx, resources: {counted}"
        elif most is not None and used >= most:
            message = (
                f"exceeded quota: suphx, requested: {counted}=1, used: {counted}={used}, limited: {counted}={most}"
            )
        if message:
            raise RefusedError(403, "Forbidden", f'{kind}.{GROUPS[kind]} "x" is forbidden: {message}')

    def check_right(self, verb: str, resource: str, name: str) -> None:
        """Refuse what the caller's Role does not allow."""
        group = GROUPS[resource.partition("/")[0]]
        if self.rules is not None and not any(
            group in rule["apiGroups"] and resource in rule["resources"] and verb in rule["verbs"]
            for rule in self.rules
        ):
            what = f'{resource} "{name}" is forbidden: User "u" cannot {verb} resource "{resource}"'
            raise RefusedError(403, "Forbidden", f'{what} in API group "{group}" in the namespace "{NAMESPACE}"')
        self.used_rights.add((group, resource, verb))

    def known_fields(self, kind: str, body: Object, *, is_strict: bool) -> Object:
        """Drop what a RayJob's schema does not know, or refuse it if the caller is strict."""
        unknown = sorted((body.get("spec") or {}).keys() - RAYJOB_FIELDS) if kind == "rayjobs" else []
        if unknown and is_strict:
            texts = ", ".join(f'unknown field "spec.{one}"' for one in unknown)
            raise RefusedError(
                400, "BadRequest", f"RayJob in version v1 cannot be handled: strict decoding error: {texts}"
            )
        body = copy.deepcopy(body)
        for one in unknown:
            del body["spec"][one]
        return body

    def _tell(self, kind: str, what: str, body: Object) -> None:
        self.events.append((self.version, kind, what, copy.deepcopy(body)))
        self.changed.notify_all()


def _is_owned(one: Object, uid: str) -> bool:
    return any(owner["uid"] == uid for owner in one["metadata"].get("ownerReferences") or ())


def merged(current: Any, patch: Any) -> Any:
    """Return the merge patch of RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    result = dict(current) if isinstance(current, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result
