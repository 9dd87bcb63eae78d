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
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import kubernetes
import urllib3
import yaml
from kubernetes.client.exceptions import ApiException
from kubernetes.dynamic import DynamicClient, Resource

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
    "rayjobs": ("ray.io", "RayJob"),
    "rayclusters": ("ray.io", "RayCluster"),
    "configmaps": ("", "ConfigMap"),
    "pods": ("", "Pod"),
    "events": ("", "Event"),
    "jobs": ("batch", "Job"),
}
"""API group and title of each kind; all have version v1. Known here, so that no request is needed to find them."""
_TEMPORARY = (429, 500, 502, 503, 504)
_DENIED = (401, 403)
"""Answers that a server may also give in its first seconds, before it has read the roles."""
_ATTEMPTS = 6
_FIRST_ATTEMPTS = 2
"""Attempts to reach a server that has not answered yet."""
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.2, 5.0
_TIMEOUT_SECONDS = (10, 60)  # to connect, to answer
_FIRST_TIMEOUT_SECONDS = (3, 10)
_FOLLOW_SECONDS = 600
"""A log that is silent for so long is requested again: the connection may be dead."""
_GONE = 410
_MAX_LINE = 1 << 20
"""Bytes of a line of a log; a longer one is shown in parts."""
_PROXY = "check the address in your kubeconfig, and that no proxy answers in its place"
_MERGE_PATCH = "application/merge-patch+json"
_STRICT = ("fieldValidation", "Strict")
_WATCH_SECONDS = 240
_logger = logging.getLogger(__name__)


class ClusterApi:
    """One namespace of one cluster, configured by the user's kubeconfig or by the pod's service account."""

    def __init__(
        self, *, context: str | None = None, namespace: str | None = None, outage_seconds: float = 0.0
    ) -> None:
        """Configure the client without a request; ClusterError if no cluster is configured.

        ``outage_seconds``: how long a server that has answered before may be away; 0: for six attempts.
        """
        configuration = kubernetes.client.Configuration()
        default = _configure(configuration, context)
        configuration.retries = 0  # _call retries, with readable errors
        self.namespace = namespace or default
        self.address = str(configuration.host)
        client = DynamicClient(kubernetes.client.ApiClient(configuration), discoverer=lambda *_: None)
        self._resources = {kind: _resource(kind, client) for kind in _KINDS}
        self._outage_seconds = outage_seconds
        self._lock = threading.Lock()
        self._has_answered = self._is_away = False
        """Whether any request was answered, and whether a warning has told that the server is away."""

    def get(self, kind: str, name: str) -> Object | None:
        """Return an object; None if it does not exist."""
        found: Object | None = self._call(kind, name, "get", absent=True, name=name)
        return found

    def list(self, kind: str, *, labels: str = "", fields: str = "") -> list[Object]:
        """Return the objects that match the selectors."""
        found = self._call(kind, "", "get", label_selector=labels or None, field_selector=fields or None)
        return list(found.get("items") or [])

    def create(self, kind: str, body: Object, *, is_dry: bool = False) -> Object:
        """Create an object; unknown fields are errors. ``is_dry``: let the server check it and store nothing.

        Raises ExistsError if there is one of that name.
        """
        name, dry_run = body["metadata"]["name"], "All" if is_dry else None
        made: Object = self._call(kind, name, "create", is_strict=True, body=body, dry_run=dry_run)
        return made

    def patch(self, kind: str, name: str, body: Object) -> Object:
        """Merge ``body`` into an object; ConflictError if its ``resourceVersion`` is not that of the body."""
        options: dict[str, Any] = {"name": name, "body": body, "content_type": _MERGE_PATCH}
        changed: Object = self._call(kind, name, "patch", is_strict=True, **options)
        return changed

    def change(self, kind: str, name: str, make: Callable[[Object], Object]) -> Object:
        """Patch an object with what ``make`` returns for it (empty: no change); retry if somebody else changes it.

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
            try:
                return self.patch(kind, name, {**patch, "metadata": {**patch.get("metadata", {}), **version}})
            except ConflictError:
                continue
        raise ClusterError(f"{_title(kind)} {name} keeps being changed by another client. Try again")

    def delete(self, kind: str, name: str, *, uid: str | None = None, grace: int | None = None) -> None:
        """Delete an object and, in the background, what it owns; do nothing if it does not exist.

        ``uid``: raise ConflictError if the object of this name is another one. ``grace``: seconds that a pod has until
        it is killed, by default what it asks for itself; a second deletion can only shorten them.
        """
        body: Object = {"propagationPolicy": "Background", **({"preconditions": {"uid": uid}} if uid else {})}
        if grace is not None:
            body["gracePeriodSeconds"] = grace
        self._call(kind, name, "delete", absent=True, name=name, body=body)

    def changes(self, kind: str, name: str, *, seconds: float) -> Iterator[Object | None]:
        """Yield an object now, and again whenever it changes, for so long; None: it does not exist.

        A watch that breaks, or whose resourceVersion is too old (410 Gone), starts again from the current object.
        """
        ends_at = time.monotonic() + seconds
        while time.monotonic() < ends_at:
            current = self.get(kind, name)
            yield current
            version = "" if current is None else str(current["metadata"]["resourceVersion"])
            yield from self._watched(kind, name, version, ends_at)
            time.sleep(_FIRST_PAUSE_SECONDS)

    def log(
        self, pod: str, container: str, *, follow: bool = False, tail: int | None = None, since: str | None = None
    ) -> Iterator[str]:
        """Yield the lines of a container's log; ``follow``: wait for more until it ends or the connection breaks.

        ``since``: only lines from this time on, by the clock of the node, as the lines have it.
        """
        resource = self._resources["pods"].subresources["log"]
        options = {"container": container, "timestamps": "true", "tailLines": tail, "sinceTime": since}
        options |= {"follow": "true"} if follow else {}
        query = [(name, str(value)) for name, value in options.items() if value is not None]
        limit = (_TIMEOUT_SECONDS[0], _FOLLOW_SECONDS if follow else _TIMEOUT_SECONDS[1])

        def ask() -> Any:
            place = {"name": pod, "namespace": self.namespace}
            return resource.get(**place, serialize=False, query_params=list(query), _request_timeout=limit)

        yield from _lines(self._retried("pods", pod, ask))

    def _watched(self, kind: str, name: str, version: str, ends_at: float) -> Iterator[Object | None]:
        """Yield the changes of one watch until it ends for any reason."""
        seconds = max(1, min(_WATCH_SECONDS, int(ends_at - time.monotonic())))
        watch = kubernetes.watch.Watch()
        try:
            for event in watch.stream(
                self._resources[kind].get,
                namespace=self.namespace,
                serialize=False,
                field_selector=f"metadata.name={name}",
                resource_version=version,
                timeout_seconds=seconds,
                _request_timeout=(_TIMEOUT_SECONDS[0], seconds + _TIMEOUT_SECONDS[0]),
            ):
                if event["object"]["metadata"]["name"] == name:
                    yield None if event["type"] == "DELETED" else event["object"]
        except ApiException as error:
            if error.status != _GONE and error.status not in _TEMPORARY:
                raise refused(f"{_title(kind)} {name}", self.namespace, error.status, error.body) from error
        except urllib3.exceptions.HTTPError:
            return
        finally:
            watch.stop()

    def _call(
        self, kind: str, of: str, verb: str, *, absent: bool = False, is_strict: bool = False, **options: Any
    ) -> Any:
        """Return the answer to a verb on the resource of a kind; ClusterError if it is refused.

        ``of``: the object's name, for errors. ``absent``: return None for an object that does not exist.
        ``is_strict``: unknown fields are errors.
        """
        method = getattr(self._resources[kind], verb)

        def act() -> Any:
            limit = _TIMEOUT_SECONDS if self._has_answered else _FIRST_TIMEOUT_SECONDS
            query = [_STRICT] if is_strict else []  # the client appends to the list
            response = method(
                namespace=self.namespace, serialize=False, _request_timeout=limit, query_params=query, **options
            )
            try:
                return parse_json(response.data)
            except ValueError as error:
                raise ClusterError(
                    f"{self.address} answers with something else than JSON ({error}): {_PROXY}"
                ) from error

        return self._retried(kind, of, act, absent=absent)

    def _retried(self, kind: str, name: str, act: Callable[[], T], *, absent: bool = False) -> T | None:
        """Return the result of ``act``, which is retried after temporary errors; ClusterError if it is refused.

        ``absent``: return None for an object that does not exist.
        """
        what = f"{_title(kind)} {name}".strip()
        pause, begun = GrowingPause(_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS), time.monotonic()
        for attempt in itertools.count(1):
            result: T | None = None
            try:
                result = act()
            except ApiException as error:
                self._has_answered = True
                if not (absent and error.status == 404 and name in str(error.body)):
                    failure = refused(what, self.namespace, error.status, error.body)
                    is_starting = self._is_away and error.status in _DENIED
                    if error.status not in _TEMPORARY and not is_starting:
                        raise failure from error
                    self._wait_or_raise(failure, f"HTTP {error.status}", attempt, begun)
                    time.sleep(pause.next())
                    continue
            except (urllib3.exceptions.HTTPError, ConnectionError) as error:
                # urllib3's MaxRetryError has a reason; its NewConnectionError is a TimeoutError, whatever its cause
                cause = reason if isinstance(reason := getattr(error, "reason", None), Exception) else error
                if isinstance(cause, urllib3.exceptions.TimeoutError) and not isinstance(
                    cause, urllib3.exceptions.NewConnectionError
                ):
                    cause = TimeoutError()
                self._wait_or_raise(unreachable(self.address, cause), cause_of(cause), attempt, begun)
                time.sleep(pause.next())
                continue
            self._has_answered = True
            if self._set_away(False):
                _logger.info("the API server %s answers again", self.address)
            return result
        raise AssertionError("the last attempt returns or raises")

    def _wait_or_raise(self, failure: ClusterError, cause: str, attempt: int, begun: float) -> None:
        """Return if a request that has failed for the ``attempt``-th time is to be repeated; tell it once."""
        if attempt < (_ATTEMPTS if self._has_answered else _FIRST_ATTEMPTS):
            return
        if not self._has_answered or time.monotonic() - begun >= self._outage_seconds:
            raise failure
        if self._set_away(True):
            text = "the API server %s does not answer (%s): waiting up to %.0f s (--wait)"
            _logger.warning(text, self.address, cause, self._outage_seconds)

    def _set_away(self, is_away: bool) -> bool:
        """Note whether the server is away; return whether that is news, for one of the threads that find it."""
        with self._lock:
            is_news, self._is_away = self._is_away != is_away, is_away
        return is_news


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


def _resource(kind: str, client: DynamicClient) -> Any:
    group, title = _KINDS[kind]
    log = {"log": {"name": "pods/log", "namespaced": True, "kind": title, "verbs": ["get"]}} if kind == "pods" else {}
    return Resource(
        prefix="apis" if group else "api",
        group=group,
        api_version="v1",
        kind=title,
        namespaced=True,
        name=kind,
        client=client,
        subresources=log,
    )


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
