"""A Kubernetes API server small enough for tests: real HTTP, resource versions, conflicts, watches, faults.

What it knows of the real one: names are unique in a kind and namespace, a change that carries another resourceVersion
than the object's is a conflict, merge patches, label and field selectors, dry runs, watches that forget (410 Gone),
owned objects that go with their owner, logs that are followed.
"""

from __future__ import annotations

import copy
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

Object = dict[str, Any]

NAMESPACE = "suphx"
TOKEN = "token-of-the-test"
KINDS = {"configmaps": "ConfigMap", "pods": "Pod", "events": "Event", "rayjobs": "RayJob", "rayclusters": "RayCluster"}


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
    forbidden: set[str] = field(default_factory=set)
    before_patch: list[Callable[[Object], None]] = field(default_factory=list)
    """Called once each, with what is to be patched: somebody else who is quicker."""
    operator: Callable[[str, Object], None] | None = None
    """Called with kind and object after every change, as KubeRay's operator is."""
    changed: threading.Condition = field(default_factory=threading.Condition)

    def put(self, kind: str, body: Object) -> Object:
        """Store an object as if somebody else had."""
        with self.changed:
            body.setdefault("apiVersion", "v1" if kind in ("configmaps", "pods", "events") else "ray.io/v1")
            body.setdefault("kind", KINDS[kind])
            name = body["metadata"]["name"]
            is_new = (kind, name) not in self.objects
            self.version += 1
            metadata = body["metadata"]
            metadata.setdefault("uid", f"uid-{self.version}")
            metadata.setdefault("creationTimestamp", f"2026-11-21T10:00:{self.version % 60:02}Z")
            metadata |= {"resourceVersion": str(self.version), "namespace": NAMESPACE}
            self.objects[kind, name] = body
            self._tell(kind, "ADDED" if is_new else "MODIFIED", body)
        if self.operator is not None:
            self.operator(kind, body)
        return body

    def remove(self, kind: str, name: str) -> None:
        """Delete an object and what it owns."""
        with self.changed:
            gone = self.objects.pop((kind, name))
            self.version += 1
            self._tell(kind, "DELETED", gone)
            owned = [key for key, one in self.objects.items() if _is_owned(one, gone["metadata"]["uid"])]
        for key in owned:
            self.remove(*key)

    def names(self, kind: str) -> list[str]:
        """Return the names of all objects of a kind."""
        return [name for one, name in self.objects if one == kind]

    def forget(self) -> None:
        """Have every watch that begins from now told that its version is gone, once."""
        with self.changed:
            self.oldest_event = self.version + 1

    def _tell(self, kind: str, what: str, body: Object) -> None:
        self.events.append((self.version, kind, what, copy.deepcopy(body)))
        self.changed.notify_all()


def _is_owned(one: Object, uid: str) -> bool:
    return any(owner["uid"] == uid for owner in one["metadata"].get("ownerReferences") or ())


@contextmanager
def api_server(folder: Path) -> Iterator[tuple[Cluster, Path]]:
    """Run a server; yields what it holds, and the kubeconfig by which it is reached."""
    cluster = Cluster()
    handler = type("Handler", (_Handler,), {"cluster": cluster})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    path = folder / "kubeconfig"
    path.write_text(json.dumps(_kubeconfig(f"http://127.0.0.1:{server.server_address[1]}")))
    try:
        yield cluster, path
    finally:
        server.shutdown()
        server.server_close()


def _kubeconfig(address: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "clusters": [{"name": "c", "cluster": {"server": address}}],
        "users": [{"name": "u", "user": {"token": TOKEN}}],
        "contexts": [{"name": "test", "context": {"cluster": "c", "user": "u", "namespace": NAMESPACE}}],
    }


class _RefusedError(Exception):
    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status, self.reason = status, reason


class _Handler(BaseHTTPRequestHandler):
    cluster: Cluster
    protocol_version = "HTTP/1.1"

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
        length = int(self.headers.get("Content-Length") or 0)
        self.body: Any = json.loads(self.rfile.read(length)) if length else None
        fault = next(
            (f for f in self.cluster.faults if f.times and f.method == self.command and f.path in self.path), None
        )
        try:
            if fault is not None:
                fault.times -= 1
                if fault.status:
                    raise _RefusedError(fault.status, "", f"a fault of the test: {fault.status}")
                if fault.is_done_first:
                    self._answer_nothing = True
                    act()
                self.close_connection = True
                self.connection.close()
                return
            self._check_access()
            act()
        except _RefusedError as error:
            status = {"kind": "Status", "status": "Failure", "reason": error.reason, "message": str(error)}
            self._answer({**status, "code": error.status}, error.status)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    _answer_nothing = False

    def _check_access(self) -> None:
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            raise _RefusedError(401, "Unauthorized", "Unauthorized")
        kind, name, _ = self._place()
        if kind in self.cluster.forbidden:
            raise _RefusedError(403, "Forbidden", f'{kind} "{name}" is forbidden: User "u" cannot {self.command}')

    def _place(self) -> tuple[str, str, str]:
        """Return kind, name and sub-resource of the path."""
        parts = urlsplit(self.path).path.strip("/").split("/")
        at = parts.index("namespaces")
        if parts[at + 1] != NAMESPACE:
            raise _RefusedError(403, "Forbidden", f"namespace {parts[at + 1]} is not yours")
        kind, name, sub = (*parts[at + 2 :], "", "")[:3]
        if kind not in KINDS:
            raise _RefusedError(404, "NotFound", "the server could not find the requested resource")
        return kind, name, sub

    def _query(self, name: str) -> str:
        return parse_qs(urlsplit(self.path).query).get(name, [""])[0]

    def _get(self) -> None:
        kind, name, sub = self._place()
        if sub == "log":
            self._log(name)
        elif name:
            self._answer(self._found(kind, name))
        elif self._query("watch") in ("true", "True"):
            self._watch(kind)
        else:
            items = [
                copy.deepcopy(one) for (k, _), one in self.cluster.objects.items() if k == kind and self._fits(one)
            ]
            self._answer({"kind": "List", "metadata": {"resourceVersion": str(self.cluster.version)}, "items": items})

    def _post(self) -> None:
        kind, _, _ = self._place()
        name = self.body["metadata"]["name"]
        if (kind, name) in self.cluster.objects:
            raise _RefusedError(409, "AlreadyExists", f'{kind} "{name}" already exists')
        is_dry = self._query("dryRun") == "All"
        self._answer(self.body if is_dry else self.cluster.put(kind, self.body), 201)

    def _patch(self) -> None:
        kind, name, _ = self._place()
        if self.cluster.before_patch:
            self.cluster.before_patch.pop()(self._found(kind, name))
        current = self._found(kind, name)
        wanted = (self.body.get("metadata") or {}).pop("resourceVersion", None)
        if wanted not in (None, current["metadata"]["resourceVersion"]):
            raise _RefusedError(409, "Conflict", f"the object {name} has been modified; please apply your changes")
        self._answer(self.cluster.put(kind, _merged(current, self.body)))

    def _delete(self) -> None:
        kind, name, _ = self._place()
        self._found(kind, name)
        self.cluster.remove(kind, name)
        self._answer({"kind": "Status", "status": "Success"})

    def _found(self, kind: str, name: str) -> Object:
        if (kind, name) not in self.cluster.objects:
            raise _RefusedError(404, "NotFound", f'{kind} "{name}" not found')
        return copy.deepcopy(self.cluster.objects[kind, name])

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
        self._found("pods", name)
        lines = list(self.cluster.logs.get(name, []))
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


def _merged(current: Any, patch: Any) -> Any:
    """Return the merge patch of RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    result = dict(current) if isinstance(current, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merged(result.get(key), value)
    return result
