"""A client of the Kubernetes API server over its dynamic client: objects as plain dictionaries. No other file imports
kubernetes.

>>> api = ClusterApi(context=None, namespace="suphx")
>>> api.create("rayjobs", manifest)
>>> for job in api.changes("rayjobs", "laptop-1f2e", seconds=60):
...     print(job)

Requests are retried when the server is overloaded or a connection breaks: six times, or for ``outage_seconds`` if that
is longer. That is safe for writes too: names are unique, and patches carry the resourceVersion that they were made
from. A server that does not answer the first request is an error within seconds: its address is probably wrong, or the
cluster is not running.
"""

from __future__ import annotations

import itertools
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeVar
from urllib.parse import quote

import kubernetes
import urllib3
import yaml
from kubernetes.client.exceptions import ApiException
from kubernetes.dynamic import DynamicClient

from suphx.growing_pause import GrowingPause
from suphx.json_text import parse_json
from suphx_platform.cluster.cluster_error import (
    POD_FOLDER,
    ClusterError,
    ConflictError,
    cause_of,
    check_configured,
    kubeconfig_files,
    refused,
    unreachable,
)

Object = dict[str, Any]
T = TypeVar("T")

_KINDS = {
    "rayjobs": ("apis/ray.io", "RayJob"),
    "rayclusters": ("apis/ray.io", "RayCluster"),
    "configmaps": ("api", "ConfigMap"),
    "pods": ("api", "Pod"),
    "events": ("api", "Event"),
    "jobs": ("apis/batch", "Job"),
    "deployments": ("apis/apps", "Deployment"),
}
"""Path of the API and title of each kind, all of version v1: known here, so that no request is needed to find them."""
_TEMPORARY = (429, 500, 502, 503, 504)
_DENIED = (401, 403)
"""Answers that a server may also give in its first seconds, before it has read the roles."""
_ATTEMPTS = 6
_FIRST_ATTEMPTS = 2
"""Attempts to reach a server that has not answered yet."""
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.2, 5.0
_CONNECT_SECONDS, _ANSWER_SECONDS = 10, 60
_FIRST_TIMEOUT_SECONDS = (3, 10)
_MAX_LINE = 1 << 20
"""Bytes of a line of a log; a longer one is shown in parts."""
_MERGE_PATCH = "application/merge-patch+json"
_STRICT = {"fieldValidation": "Strict"}
_WATCH_SECONDS = 240
_logger = logging.getLogger(__name__)


class ClusterApi:
    """One namespace of one cluster, configured by the user's kubeconfig or by the pod's service account."""

    def __init__(
        self, *, context: str | None = None, namespace: str | None = None, outage_seconds: float = 0.0
    ) -> None:
        """Configure the client without a request; ClusterError if no cluster is configured.

        ``outage_seconds``: how long a server that has answered before may be unavailable; 0: six attempts.
        """
        configuration = kubernetes.client.Configuration()
        default = _configure(configuration, context)
        configuration.retries = 0  # _retried does that, with readable errors
        self.namespace = namespace or default
        self.address = str(configuration.host)
        self._client = DynamicClient(kubernetes.client.ApiClient(configuration), discoverer=lambda *_: None)
        self._outage_seconds = outage_seconds
        self._has_answered = self._is_unavailable = False
        """Whether any request was answered, and whether a warning has said that the server does not answer."""

    def get(self, kind: str, name: str, *, namespace: str | None = None) -> Object | None:
        """Return an object, of another ``namespace`` if one is given; None if it does not exist."""
        found: Object | None = self._call("get", kind, name, absent=True, namespace=namespace)
        return found

    def list(self, kind: str, *, labels: str = "", fields: str = "") -> list[Object]:
        """Return the objects that match the selectors."""
        found = self._call("get", kind, query={"labelSelector": labels, "fieldSelector": fields})
        return list(found.get("items") or [])

    def create(self, kind: str, body: Object, *, is_dry: bool = False) -> Object:
        """Create an object; unknown fields are errors. ``is_dry``: let the server check it and store nothing.

        Raises ExistsError if there is one of that name.
        """
        query = _STRICT | ({"dryRun": "All"} if is_dry else {})
        made: Object = self._call("post", kind, body=body, query=query)
        return made

    def change(self, kind: str, name: str, make: Callable[[Object], Object]) -> Object:
        """Merge what ``make`` returns for an object into it (empty: no change); retry if somebody else changes it.

        Raises ClusterError if there is no such object.
        """
        for _ in range(_ATTEMPTS):
            current = self.get(kind, name)
            if current is None:
                raise ClusterError(f"{_title(kind)} {name} does not exist in namespace {self.namespace}")
            patch = make(current)
            if not patch:
                return current
            version = {"resourceVersion": current["metadata"]["resourceVersion"]}
            body = {**patch, "metadata": {**patch.get("metadata", {}), **version}}
            with suppress(ConflictError):
                changed: Object = self._call("patch", kind, name, body=body, query=_STRICT)
                return changed
        raise ClusterError(f"another client keeps changing {_title(kind)} {name}. Try again")

    def delete(self, kind: str, name: str, *, uid: str | None = None, grace: int | None = None) -> None:
        """Delete an object and, in the background, what it owns; do nothing if it does not exist.

        ``uid``: raise ConflictError if the object of this name is another one. ``grace``: seconds that a pod has until
        it is killed, by default what it asks for itself; a second deletion can only shorten them.
        """
        body: Object = {"propagationPolicy": "Background", **({"preconditions": {"uid": uid}} if uid else {})}
        if grace is not None:
            body["gracePeriodSeconds"] = grace
        self._call("delete", kind, name, absent=True, body=body)

    def changes(self, kind: str, name: str, *, seconds: float) -> Iterator[Object | None]:
        """Yield an object now, and again whenever it changes, for so long; None: it does not exist.

        A watch that breaks, or whose resourceVersion is too old (410 Gone), starts again from the current object, after
        pauses that grow as long as watches show nothing: one that is always refused becomes a look every few seconds.
        """
        ends_at, pause = time.monotonic() + seconds, GrowingPause(_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
        while time.monotonic() < ends_at:
            current = self.get(kind, name)
            yield current
            version = "" if current is None else str(current["metadata"]["resourceVersion"])
            for change in self._watched(kind, name, version, ends_at):
                pause.reset()
                yield change
            time.sleep(min(pause.next(), max(0.0, ends_at - time.monotonic())))

    def log(self, pod: str, container: str, *, tail: int | None = None, since: str | None = None) -> Iterator[str]:
        """Yield the lines that a container has written, to the point where the connection breaks, if it does.

        ``since``: only lines from this time on, by the clock of the node, as the lines have it.
        """
        query = {"container": container, "timestamps": "true", "tailLines": tail, "sinceTime": since}
        path, limit = f"{self._path('pods', pod)}/log", (_CONNECT_SECONDS, _ANSWER_SECONDS)
        yield from _lines(self._retried(f"Pod {pod}", lambda: self._send("get", path, limit, query)))

    def _watched(self, kind: str, name: str, version: str, ends_at: float) -> Iterator[Object | None]:
        """Yield the changes of one watch until it ends for any reason; the next request shows whether it matters."""
        seconds = max(1, min(_WATCH_SECONDS, int(ends_at - time.monotonic())))
        query = {"watch": "true", "fieldSelector": f"metadata.name={name}", "timeoutSeconds": seconds}
        limit = (_CONNECT_SECONDS, seconds + _CONNECT_SECONDS)
        try:
            response = self._send("get", self._path(kind), limit, {**query, "resourceVersion": version})
            for line in _lines(response):
                event = parse_json(line)
                if event["type"] == "ERROR":
                    return
                yield None if event["type"] == "DELETED" else event["object"]
        except (ApiException, urllib3.exceptions.HTTPError, ConnectionError, ValueError):  # or half a line
            return

    def _path(self, kind: str, name: str = "", namespace: str | None = None) -> str:
        path = f"/{_KINDS[kind][0]}/v1/namespaces/{quote(namespace or self.namespace, safe='')}/{kind}"
        return f"{path}/{quote(name, safe='')}" if name else path

    def _send(
        self, method: str, path: str, limit: tuple[float, float], query: Mapping[str, Any], body: Object | None = None
    ) -> Any:
        """Return the response to one request; ``limit``: seconds to connect, and to wait for data."""
        return self._client.request(
            method,
            path,
            body=body,
            query_params=[(key, str(value)) for key, value in query.items() if value not in (None, "")],
            content_type=_MERGE_PATCH if method == "patch" else None,
            serialize=False,
            _request_timeout=limit,
        )

    def _call(
        self,
        method: str,
        kind: str,
        name: str = "",
        *,
        query: Mapping[str, Any] | None = None,
        body: Object | None = None,
        absent: bool = False,
        namespace: str | None = None,
    ) -> Any:
        """Return the JSON that answers a request, which is retried; ClusterError if it is refused.

        ``absent``: return None for an object that does not exist. A 404 that does not name it has another cause.
        """

        def act() -> Any:
            limit = (_CONNECT_SECONDS, _ANSWER_SECONDS) if self._has_answered else _FIRST_TIMEOUT_SECONDS
            try:
                return parse_json(self._send(method, self._path(kind, name, namespace), limit, query or {}, body).data)
            except ApiException as error:
                if absent and error.status == 404 and name in str(error.body):
                    return None
                raise
            except ValueError as error:
                raise ClusterError(
                    f"{self.address} did not return JSON ({error}): check the address in your kubeconfig, and that no "
                    "proxy answers instead"
                ) from error

        called = name or ("" if body is None else str(body["metadata"]["name"]))
        return self._retried(f"{_title(kind)} {called}".strip(), act)

    def _retried(self, what: str, act: Callable[[], T]) -> T:
        """Return the result of ``act``, which is retried after temporary errors; ClusterError if it is refused."""
        pause, begun = GrowingPause(_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS), time.monotonic()
        for attempt in itertools.count(1):
            try:
                result = act()
            except ApiException as error:
                self._has_answered = True
                failure, cause = refused(what, self.namespace, error.status, error.body), f"HTTP {error.status}"
                is_starting = self._is_unavailable and error.status in _DENIED
                if error.status not in _TEMPORARY and not is_starting:
                    raise failure from error
            except (urllib3.exceptions.HTTPError, ConnectionError) as error:
                reason = _reason(error)
                failure, cause = unreachable(self.address, reason), cause_of(reason)
            else:
                self._has_answered = True
                if self._is_unavailable:
                    self._is_unavailable = False
                    _logger.info("the API server %s answers again", self.address)
                return result
            self._wait_or_raise(failure, cause, attempt, begun)
            time.sleep(pause.next())
        raise AssertionError("the last attempt returns or raises")

    def _wait_or_raise(self, failure: ClusterError, cause: str, attempt: int, begun: float) -> None:
        """Return if a request that has failed for the ``attempt``-th time is to be repeated; tell it once."""
        if attempt < (_ATTEMPTS if self._has_answered else _FIRST_ATTEMPTS):
            return
        if not self._has_answered or time.monotonic() - begun >= self._outage_seconds:
            raise failure
        if not self._is_unavailable:
            self._is_unavailable = True
            text = "the API server %s does not answer (%s): waiting up to %.0f s (--wait)"
            _logger.warning(text, self.address, cause, self._outage_seconds)


def _reason(error: Exception) -> Exception:
    """Return why a connection failed: of urllib3, a MaxRetryError has a reason."""
    reason = getattr(error, "reason", None)
    cause = reason if isinstance(reason, Exception) else error
    is_new = isinstance(cause, urllib3.exceptions.NewConnectionError)  # a TimeoutError, whatever its cause
    return TimeoutError() if isinstance(cause, urllib3.exceptions.TimeoutError) and not is_new else cause


def _configure(configuration: Any, context: str | None) -> str:
    """Fill in how the cluster is reached; return the default namespace."""
    check_configured(context)
    paths = os.pathsep.join(map(str, kubeconfig_files()))
    names: list[str] = []
    try:
        if not paths:
            kubernetes.config.load_incluster_config(client_configuration=configuration)
            return (POD_FOLDER / "namespace").read_text(encoding="ascii").strip()
        contexts, chosen = kubernetes.config.list_kube_config_contexts(paths)
        names = [str(one["name"]) for one in contexts]
        chosen = next((one for one in contexts if one["name"] == context), chosen)
        kubernetes.config.load_kube_config(paths, context=context, client_configuration=configuration)
        return str(chosen["context"].get("namespace") or "default")
    except (kubernetes.config.ConfigException, yaml.YAMLError, OSError, TypeError, AttributeError) as error:
        is_no_config = isinstance(error, TypeError | AttributeError)
        cause = "it is not a kubeconfig" if is_no_config else " ".join(str(error).split())
        choice = f": {', '.join(names)}" if names else ""
        raise ClusterError(
            f"{paths or POD_FOLDER} cannot be used ({cause}). Correct it, set KUBECONFIG to another file, or choose "
            f"one of its contexts with --context{choice}"
        ) from error


def _title(kind: str) -> str:
    return _KINDS[kind][1]


def _lines(response: Any) -> Iterator[str]:
    rest = b""
    try:
        for chunk in response.stream(amt=None, decode_content=False):
            *whole, rest = (rest + chunk).split(b"\n")
            yield from (line.decode(errors="replace") for line in whole)
            if len(rest) > _MAX_LINE:  # of a container that never ends its line
                yield rest.decode(errors="replace")
                rest = b""
    except (urllib3.exceptions.HTTPError, ConnectionError):
        pass
    finally:
        response.release_conn()
    if rest:
        yield rest.decode(errors="replace")
