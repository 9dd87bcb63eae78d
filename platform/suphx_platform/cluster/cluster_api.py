"""A client of the Kubernetes API server: objects as plain dictionaries. No other file imports kubernetes.

>>> api = ClusterApi(context=None, namespace="suphx")
>>> api.create("rayjobs", manifest)
>>> for job in api.changes("rayjobs", "laptop-1f2e", seconds=60):
...     print(job)

Requests are retried when the server is overloaded or a connection breaks. That is safe for writes too: names are
unique, and patches carry the resourceVersion that they were made from. A server that does not answer the first request
is an error within seconds: its address is probably wrong, or the cluster is not running.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import kubernetes
import urllib3
from kubernetes.client.exceptions import ApiException

from suphx.growing_pause import GrowingPause
from suphx_platform.cluster.cluster_error import ClusterError, ConflictError, refused, unreachable
from suphx_platform.cluster.kubeconfig import POD_FOLDER, check_kubeconfig, is_in_pod, kubeconfig_files

Object = dict[str, Any]
T = TypeVar("T")

_RAY = ("ray.io", "v1")
_RAY_NAMES = {"rayjobs": "RayJob", "rayclusters": "RayCluster"}
_NAMES = {"configmaps": "config_map", "pods": "pod", "events": "event", "jobs": "job"}
_TEMPORARY = (429, 500, 502, 503, 504)
_ATTEMPTS = 6
_FIRST_ATTEMPTS = 2
"""Attempts to reach a server that has not answered yet."""
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.2, 60.0
_TIMEOUT_SECONDS = (10, 60)  # to connect, to answer
_FIRST_TIMEOUT_SECONDS = (3, 10)
"""The same for a server that has not answered yet."""
_NO_ANSWER = (urllib3.exceptions.NewConnectionError, urllib3.exceptions.SSLError, TimeoutError)
_FOLLOW_SECONDS = 600
"""A log that is silent for so long is requested again: the connection may be dead."""
_GONE = 410
_WATCH_SECONDS = 240


class ClusterApi:
    """One namespace of one cluster, configured by the user's kubeconfig or by the pod's service account."""

    def __init__(
        self,
        *,
        context: str | None = None,
        namespace: str | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        """Configure the client without a request; ClusterError if no cluster is configured.

        ``say``: receives a line when the first request has to be retried.
        """
        configuration = kubernetes.client.Configuration()
        default = _configure(configuration, context)
        configuration.retries = 0  # _call retries, with readable errors
        self.namespace = namespace or default
        self.address = str(configuration.host)
        client = kubernetes.client.ApiClient(configuration)
        self._custom = kubernetes.client.CustomObjectsApi(client)
        self._core = kubernetes.client.CoreV1Api(client)
        self._batch = kubernetes.client.BatchV1Api(client)
        self._has_answered = False
        self._say = say

    def get(self, kind: str, name: str) -> Object | None:
        """Return an object; None if it does not exist."""
        found: Object | None = self._call(kind, name, self._method("get", kind, name), absent=True)
        return found

    def list(self, kind: str, *, labels: str = "", fields: str = "") -> list[Object]:
        """Return the objects that match the selectors."""
        method = self._method("list", kind)
        found = self._call(kind, "", lambda: method(label_selector=labels, field_selector=fields))
        return list((found or {}).get("items") or [])

    def create(self, kind: str, body: Object, *, is_dry: bool = False) -> Object:
        """Create an object; unknown fields are errors. ``is_dry``: let the server check it and store nothing.

        Raises ExistsError if there is one of that name.
        """
        method = self._method("create", kind, body=body)
        options = {"field_validation": "Strict", **({"dry_run": "All"} if is_dry else {})}
        return self._call(kind, body["metadata"]["name"], lambda: method(**options)) or {}

    def patch(self, kind: str, name: str, body: Object) -> Object:
        """Merge ``body`` into an object; ConflictError if its ``resourceVersion`` is not that of the body."""
        method = self._method("patch", kind, name, body=body)
        return self._call(kind, name, lambda: method(field_validation="Strict")) or {}

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

    def delete(self, kind: str, name: str, *, uid: str | None = None) -> None:
        """Delete an object and, in the background, what it owns; do nothing if it does not exist.

        ``uid``: raise ConflictError if the object of this name is another one.
        """
        method = self._method("delete", kind, name)
        body = {"propagationPolicy": "Background", **({"preconditions": {"uid": uid}} if uid else {})}
        self._call(kind, name, lambda: method(body=body), absent=True)

    def changes(self, kind: str, name: str, *, seconds: float) -> Iterator[Object | None]:
        """Yield an object of ray.io now, and again whenever it changes, for so long; None: it does not exist.

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
        self, pod: str, container: str, *, follow: bool = False, tail: int | None = None, since: int | None = None
    ) -> Iterator[str]:
        """Yield the lines of a container's log; ``follow``: wait for more until it ends or the connection breaks.

        ``since``: only lines of the last seconds.
        """
        response = self._call(
            "pods",
            pod,
            lambda: _accepted(
                self._core.read_namespaced_pod_log(
                    pod,
                    self.namespace,
                    container=container,
                    follow=follow,
                    tail_lines=tail,
                    since_seconds=since,
                    timestamps=True,
                    _preload_content=False,
                    _request_timeout=(_TIMEOUT_SECONDS[0], _FOLLOW_SECONDS if follow else _TIMEOUT_SECONDS[1]),
                )
            ),
        )
        yield from _lines(response)

    def _watched(self, kind: str, name: str, version: str, ends_at: float) -> Iterator[Object | None]:
        """Yield the changes of one watch until it ends for any reason."""
        seconds = max(1, min(_WATCH_SECONDS, int(ends_at - time.monotonic())))
        watch = kubernetes.watch.Watch()
        try:
            for event in watch.stream(
                self._custom.list_namespaced_custom_object,
                *(*_RAY, self.namespace, kind),
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

    def _method(self, verb: str, kind: str, name: str = "", body: Object | None = None) -> Callable[..., Any]:
        """Return the client's method for a verb, with the arguments that name the object."""
        if kind in _RAY_NAMES:
            method = getattr(self._custom, f"{verb}_namespaced_custom_object")
            place: tuple[Any, ...] = (*_RAY, self.namespace, kind)
            arguments: tuple[Any, ...] = (*place, *([name] if name else []), *([] if body is None else [body]))
        else:
            verb = "read" if verb == "get" else verb
            group = self._batch if kind == "jobs" else self._core
            method = getattr(group, f"{verb}_namespaced_{_NAMES[kind]}")
            arguments = (*([name] if name else []), self.namespace, *([] if body is None else [body]))
        kind_of_patch = {"_content_type": "application/merge-patch+json"} if verb == "patch" else {}

        def call(**options: Any) -> Any:
            given = {key: value for key, value in options.items() if value != ""}
            # As JSON: the client's classes reject objects of servers that are older or newer than the client.
            timeout = _TIMEOUT_SECONDS if self._has_answered else _FIRST_TIMEOUT_SECONDS
            plain = {"_request_timeout": timeout, "_preload_content": False}
            return _json(_accepted(method(*arguments, **plain, **kind_of_patch, **given)))

        return call

    def _call(self, kind: str, name: str, act: Callable[[], T], *, absent: bool = False) -> Any:
        """Return the result of ``act``, which is retried after temporary errors; ClusterError if it is refused.

        ``absent``: return None for an object that does not exist.
        """
        what = f"{_title(kind)} {name}".strip()
        pause = GrowingPause(_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                result = act()
                self._has_answered = True
                return result
            except ApiException as error:
                self._has_answered = True
                if absent and error.status == 404 and name in str(error.body):
                    return None
                if error.status not in _TEMPORARY or attempt == _ATTEMPTS:
                    raise refused(what, self.namespace, error.status, error.body) from error
            except (urllib3.exceptions.HTTPError, ConnectionError) as error:
                is_unreachable = not self._has_answered and isinstance(_cause(error), _NO_ANSWER)
                if attempt >= (_FIRST_ATTEMPTS if is_unreachable else _ATTEMPTS):
                    raise unreachable(self.address, _cause(error)) from error
                if is_unreachable and self._say is not None:
                    self._say(f"the API server {self.address} does not answer, trying again")
            time.sleep(pause.next())
        raise AssertionError("the last attempt returns or raises")


def _cause(error: Exception) -> Exception:
    """Return the exception behind urllib3's MaxRetryError, any other error itself; TimeoutError for all timeouts."""
    reason = getattr(error, "reason", None)
    cause = reason if isinstance(reason, Exception) else error
    if isinstance(cause, urllib3.exceptions.NewConnectionError):  # also a TimeoutError of urllib3, whatever its cause
        return cause
    return TimeoutError() if isinstance(cause, urllib3.exceptions.TimeoutError) else cause


def _configure(configuration: Any, context: str | None) -> str:
    """Fill in how the cluster is reached; return the default namespace."""
    files = kubeconfig_files()
    in_pod = not files and context is None and is_in_pod()
    if not in_pod:
        check_kubeconfig(files, context)
    paths = os.pathsep.join(map(str, files)) or str(POD_FOLDER)
    try:
        if in_pod:
            kubernetes.config.load_incluster_config(client_configuration=configuration)
            return (POD_FOLDER / "namespace").read_text(encoding="ascii").strip()
        kubernetes.config.load_kube_config(paths, context=context, client_configuration=configuration)
        contexts, active = kubernetes.config.list_kube_config_contexts(paths)
    except (kubernetes.config.ConfigException, OSError) as error:
        raise ClusterError(f"{paths} cannot be used ({error}). Correct it, or choose another --context") from error
    chosen: Mapping[str, Any] = next((found for found in contexts if found["name"] == context), active)
    return str(chosen["context"].get("namespace") or "default")


def _accepted(response: Any) -> Any:
    """Return a successful response; ApiException if it is an error."""
    if response.status >= 300:
        raise ApiException(status=response.status, reason=response.reason, body=response.data)
    return response


def _json(response: Any) -> Any:
    return json.loads(response.data)


def _title(kind: str) -> str:
    titles = {**_RAY_NAMES, "configmaps": "ConfigMap", "pods": "Pod", "events": "Event", "jobs": "Job"}
    return titles[kind]


def _lines(response: Any) -> Iterator[str]:
    """Yield the lines of a log until the connection ends."""
    rest = b""
    try:
        for chunk in response.stream(amt=None, decode_content=False):
            *whole, rest = (rest + chunk).split(b"\n")
            yield from (line.decode(errors="replace") for line in whole)
    except (urllib3.exceptions.HTTPError, ConnectionError):
        pass
    finally:
        response.release_conn()
    if rest:
        yield rest.decode(errors="replace")
