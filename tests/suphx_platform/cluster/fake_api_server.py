"""A Kubernetes API server small enough for tests: real HTTP, resource versions, conflicts, watches, rights, faults.

It behaves as a kube-apiserver 1.36 did: names are unique in a kind, a change that carries another resourceVersion than
the object's is a conflict, merge patches, label and field selectors, dry runs, unknown fields that are errors only with
``fieldValidation=Strict``, watches that forget (410 Gone), quotas of objects, RBAC by the rules of a Role, finalizers,
pods that terminate for a while, owned objects that are deleted with their owner, logs. The operator is in
fake_operator.py.
"""

from __future__ import annotations

import copy
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit


@contextmanager
def api_server(
    folder: Path, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> Iterator[tuple[Cluster, Path]]:
    """Run a server; yields what it holds, and the kubeconfig by which it is reached."""
    cluster = Cluster()
    handler = type("Handler", (_Handler,), {"cluster": cluster})
    server = ThreadingHTTPServer((host, 0), handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    path = folder / "kubeconfig"
    path.write_text(json.dumps(kubeconfig(f"http{'s' if tls else ''}://{host}:{server.server_address[1]}")))
    try:
        yield cluster, path
    finally:
        server.shutdown()
        server.server_close()


def kubeconfig(address: str) -> Object:
    """Return a kubeconfig for the server at ``address``."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "clusters": [{"name": "c", "cluster": {"server": address}}],
        "users": [{"name": "u", "user": {"token": TOKEN}}],
        "contexts": [{"name": "test", "context": {"cluster": "c", "user": "u", "namespace": NAMESPACE}}],
    }


class _Handler(BaseHTTPRequestHandler):
    cluster: Cluster
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else every answer waits 40 ms between its headers and its body
    _answer_nothing = False

    def do_GET(self) -> None:
        self._serve(self._get)

    def do_POST(self) -> None:
        self._serve(self._post)

    def do_PATCH(self) -> None:
        self._serve(self._patch)

    def do_DELETE(self) -> None:
        self._serve(self._delete)

    def log_message(self, *_: Any) -> None:
        pass

    def _serve(self, act: Callable[[], None]) -> None:
        self.cluster.requests.append((self.command, self.path))
        self.cluster.react(self.command, self.path)
        length = int(self.headers.get("Content-Length") or 0)
        self.body: Any = json.loads(self.rfile.read(length)) if length else None
        fault = next(
            (f for f in self.cluster.faults if f.times and f.method == self.command and f.path in self.path), None
        )
        try:
            if fault is not None:
                fault.times -= 1
                if fault.status:
                    raise RefusedError(fault.status, "", f"a fault of the test: {fault.status}")
                if fault.is_done_first:
                    self._answer_nothing = True
                    act()
                self.close_connection = True
                self.connection.close()
                return
            self._check_access()
            act()
        except RefusedError as error:
            status = {"kind": "Status", "status": "Failure", "reason": error.reason, "message": str(error)}
            self._answer({**status, "code": error.status}, error.status)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _check_access(self) -> None:
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            raise RefusedError(401, "Unauthorized", "Unauthorized")
        kind, name, sub = self._place()
        self.cluster.check_right(self._verb(name), f"{kind}/{sub}" if sub else kind, name)

    def _verb(self, name: str) -> str:
        if self.command == "GET":
            is_watch = self._query("watch") in ("true", "True")
            return "watch" if is_watch else "get" if name else "list"
        return {"POST": "create", "PATCH": "patch", "DELETE": "delete"}[self.command]

    def _place(self) -> tuple[str, str, str]:
        """Return kind, name and sub-resource of the path."""
        parts = urlsplit(self.path).path.strip("/").split("/")
        at = parts.index("namespaces")
        if parts[at + 1] != (OPERATOR_NAMESPACE if "deployments" in parts else NAMESPACE):
            raise RefusedError(403, "Forbidden", f"namespace {parts[at + 1]} is not yours")
        kind, name, sub = (*parts[at + 2 :], "", "")[:3]
        if kind not in GROUPS:
            raise RefusedError(404, "NotFound", "the server could not find the requested resource")
        return kind, name, sub

    def _query(self, name: str) -> str:
        return parse_qs(urlsplit(self.path).query).get(name, [""])[0]

    def _get(self) -> None:
        kind, name, sub = self._place()
        if sub == "log":
            self._log(name)
        elif name:
            self._answer(self.cluster.found(kind, name))
        elif self._query("watch") in ("true", "True"):
            self._watch(kind)
        else:
            with self.cluster.changed:
                items = [copy.deepcopy(one) for (k, _), one in self.cluster.objects.items() if k == kind]
            metadata = {"resourceVersion": str(self.cluster.version)}
            self._answer({"kind": "List", "metadata": metadata, "items": [one for one in items if self._fits(one)]})

    def _post(self) -> None:
        kind, _, _ = self._place()
        body = self.cluster.known_fields(kind, self.body, is_strict=self._query("fieldValidation") == "Strict")
        name = body["metadata"]["name"]
        self.cluster.check_quota(kind)  # before the name, as admission comes before storage
        if self._query("dryRun") == "All":
            self.cluster.check_new(kind, name)
            self._answer(body, 201)
        else:
            self._answer(self.cluster.create(kind, body), 201)

    def _patch(self) -> None:
        kind, name, _ = self._place()
        if self.cluster.before_patch:
            self.cluster.before_patch.pop()(self.cluster.found(kind, name))
        patch = self.cluster.known_fields(kind, self.body, is_strict=self._query("fieldValidation") == "Strict")
        with self.cluster.changed:
            current = self.cluster.found(kind, name)
            metadata = patch.get("metadata") or {}
            if metadata.pop("resourceVersion", None) not in (None, current["metadata"]["resourceVersion"]):
                raise RefusedError(409, "Conflict", f"the object {name} has been modified; please apply your changes")
            changed = merged(current, patch)
            self.cluster.put(kind, changed, is_told=False)
        self.cluster.after_change(kind, changed)
        self._answer(changed)

    def _delete(self) -> None:
        kind, name, _ = self._place()
        uid = ((self.body or {}).get("preconditions") or {}).get("uid")
        if uid not in (None, self.cluster.found(kind, name)["metadata"]["uid"]):
            raise RefusedError(409, "Conflict", "Precondition failed: UID in precondition is another one")
        self.cluster.delete(kind, name, grace=(self.body or {}).get("gracePeriodSeconds"))
        self._answer({"kind": "Status", "status": "Success"})

    def _fits(self, one: Object) -> bool:
        labels = one["metadata"].get("labels") or {}
        for term in filter(None, self._query("labelSelector").split(",")):
            key, sign, value = term.partition("=")
            if key not in labels or (sign and labels[key] != value):
                return False
        field_terms = dict(t.split("=") for t in filter(None, self._query("fieldSelector").split(",")))
        values = {"metadata.name": one["metadata"]["name"], "type": one.get("type")}
        return all(values[key] == value for key, value in field_terms.items())

    def _watch(self, kind: str) -> None:
        version = int(self._query("resourceVersion") or self.cluster.version)
        self._begin_stream("application/json")
        if version < self.cluster.oldest_event:
            self.cluster.oldest_event = 0
            status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}
            self._send(json.dumps({"type": "ERROR", "object": status}) + "\n")
        else:
            ends_at = time.monotonic() + float(self._query("timeoutSeconds") or 30)
            while time.monotonic() < ends_at:
                for number, what_kind, what, body in list(self.cluster.events):
                    if number > version and what_kind == kind and self._fits(body):
                        self._send(json.dumps({"type": what, "object": body}) + "\n")
                    version = max(version, number)
                with self.cluster.changed:
                    self.cluster.changed.wait(0.05)
        self._send("")

    def _log(self, name: str) -> None:
        self.cluster.found("pods", name)
        lines = list(self.cluster.logs.get(name, []))
        if self._query("sinceTime"):  # by whole seconds, as the kubelet does
            lines = [line for line in lines if line[:19] >= self._query("sinceTime")[:19]]
        if self._query("tailLines"):
            lines = lines[-int(self._query("tailLines")) :]
        self._begin_stream("text/plain")
        for line in lines:
            if line == "CONNECTION BREAKS":
                self.cluster.logs[name].remove(line)
                self.close_connection = True
                self.connection.close()
                return
            self._send(f"{line}\n")
        self._send("")

    def _begin_stream(self, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _send(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _answer(self, body: Object, status: int = 200) -> None:
        if self._answer_nothing:
            return
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


Object = dict[str, Any]

NAMESPACE = "suphx"
OPERATOR_NAMESPACE = "kuberay-system"
"""Where the only Deployment is."""
TOKEN = "token-of-the-test"
KINDS = {
    "configmaps": "ConfigMap",
    "pods": "Pod",
    "events": "Event",
    "jobs": "Job",
    "rayjobs": "RayJob",
    "rayclusters": "RayCluster",
    "deployments": "Deployment",
}
GROUPS = {"configmaps": "", "pods": "", "events": "", "jobs": "batch", "rayjobs": "ray.io", "rayclusters": "ray.io"}
GROUPS["deployments"] = "apps"
_VERSIONS = {"": "v1", "apps": "apps/v1", "batch": "batch/v1", "ray.io": "ray.io/v1"}
_FIELDS = """activeDeadlineSeconds backoffLimit clusterSelector deletionStrategy entrypoint entrypointNumCpus
    entrypointNumGpus entrypointResources jobId managedBy metadata preRunningDeadlineSeconds rayClusterSpec
    runtimeEnvYAML shutdownAfterJobFinishes submissionMode submitterConfig submitterPodTemplate suspend
    ttlSecondsAfterFinished"""
RAYJOB_FIELDS = frozenset(_FIELDS.split())
"""Fields of a RayJob's spec in KubeRay 1.7; tests/helm/test_objects.py compares them with the CRD."""


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
        if most is not None and used >= most:
            message = (
                f"exceeded quota: suphx, requested: {counted}=1, used: {counted}={used}, limited: {counted}={most}"
            )
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
