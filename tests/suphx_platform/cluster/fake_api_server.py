"""A Kubernetes API server small enough for tests: real HTTP, resource versions, conflicts, watches, rights, faults.

It behaves as a kube-apiserver 1.36 did: names are unique in a kind, a change that carries another resourceVersion than
the object's is a conflict, merge patches, label and field selectors, dry runs, unknown fields that are errors only with
``fieldValidation=Strict``, watches that forget (410 Gone), quotas of objects, RBAC by the rules of a Role, finalizers,
pods that terminate for a while, owned objects that are deleted with their owner, logs that are followed. The rules
behind HTTP are in cluster_store.py, the operator in fake_operator.py.
"""

from __future__ import annotations

import copy
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.suphx_platform.cluster.cluster_store import (
    GROUPS,
    NAMESPACE,
    TOKEN,
    Cluster,
    Fault,
    Object,
    RefusedError,
    merged,
)

__all__ = ["NAMESPACE", "TOKEN", "Cluster", "Fault", "api_server", "kubeconfig"]


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
        if parts[at + 1] != NAMESPACE:
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
