"""The Kubernetes API server: objects as plain dictionaries. No other file imports kubernetes.

>>> api = ClusterApi(context=None, namespace="suphx")
>>> api.create("rayjobs", manifest)
>>> for job in api.changes("rayjobs", "laptop-1f2e", seconds=60):
...     print(job)

Whatever may be said twice is said again when the server stumbles: reading always, writing because names are unique and
changes carry the version that they were made from.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import kubernetes
import urllib3
from kubernetes.client.exceptions import ApiException

from suphx_platform.cluster_error import ClusterError, ConflictError, refused, unreachable
from suphx_platform.kubeconfig import check_kubeconfig, kubeconfig_files

Object = dict[str, Any]
T = TypeVar("T")

_RAY = ("ray.io", "v1")
_RAY_NAMES = {"rayjobs": "RayJob", "rayclusters": "RayCluster"}
_CORE_NAMES = {"configmaps": "config_map", "pods": "pod", "events": "event"}
_STUMBLES = (429, 500, 502, 503, 504)
_ATTEMPTS = 6
_FIRST_PAUSE_SECONDS = 0.2
_TIMEOUT_SECONDS = (10, 60)  # to connect, to answer
_FOLLOW_SECONDS = 600
"""A log that is silent for so long is asked for anew: the line may be dead."""
_GONE = 410
_WATCH_SECONDS = 240
_POD_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


class ClusterApi:
    """One namespace of one cluster, as the user's kubeconfig, or the service account of the pod, has it."""

    def __init__(self, *, context: str | None = None, namespace: str | None = None) -> None:
        """Reach no server yet; ClusterError if no cluster is configured."""
        configuration = kubernetes.client.Configuration()
        default = _configure(configuration, context)
        configuration.retries = 0  # we do it, with errors that we understand
        self.namespace = namespace or default
        self.address = str(configuration.host)
        client = kubernetes.client.ApiClient(configuration)
        self._custom = kubernetes.client.CustomObjectsApi(client)
        self._core = kubernetes.client.CoreV1Api(client)

    def get(self, kind: str, name: str) -> Object | None:
        """Return an object, None if there is none."""
        found: Object | None = self._call(kind, name, self._method("get", kind, name), absent=True)
        return found

    def list(self, kind: str, *, labels: str = "", fields: str = "") -> list[Object]:
        """Return the objects that the selectors choose."""
        method = self._method("list", kind)
        found = self._call(kind, "", lambda: method(label_selector=labels, field_selector=fields))
        return list((found or {}).get("items") or [])

    def create(self, kind: str, body: Object, *, is_dry: bool = False) -> Object:
        """Create an object; ExistsError if it is there. ``is_dry``: have the server check it only."""
        method = self._method("create", kind, body=body)
        options = {"dry_run": "All"} if is_dry else {}
        return self._call(kind, body["metadata"]["name"], lambda: method(**options)) or {}

    def patch(self, kind: str, name: str, body: Object) -> Object:
        """Merge ``body`` into an object; ConflictError if that has another ``resourceVersion`` than the body says."""
        return self._call(kind, name, self._method("patch", kind, name, body=body)) or {}

    def change(self, kind: str, name: str, make: Callable[[Object], Object]) -> Object:
        """Patch an object with what ``make`` makes of it (nothing: leave it), again if it changed meanwhile."""
        for _ in range(_ATTEMPTS):
            current = self.get(kind, name)
            if current is None:
                raise ClusterError(f"{_title(kind)} {name} is not in namespace {self.namespace}: see suphx jobs")
            patch = make(current)
            if not patch:
                return current
            version = {"resourceVersion": current["metadata"]["resourceVersion"]}
            try:
                return self.patch(kind, name, {**patch, "metadata": {**patch.get("metadata", {}), **version}})
            except ConflictError:
                continue
        raise ClusterError(f"{_title(kind)} {name} is changed again and again by somebody else: try again")

    def delete(self, kind: str, name: str) -> None:
        """Delete an object and, in the background, what it owns; nothing if there is none."""
        method = self._method("delete", kind, name)
        self._call(kind, name, lambda: method(propagation_policy="Background"), absent=True)

    def changes(self, kind: str, name: str, *, seconds: float) -> Iterator[Object | None]:
        """Yield an object of ray.io as it is, and as it becomes whenever it changes, for so long; None: it is gone.

        A watch that breaks, or whose place is forgotten (410 Gone), is begun again from the object as it is then.
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
        """Yield the lines that a container printed; ``follow``: and will print, until it ends or the line breaks.

        ``since``: those of the last seconds only.
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
        """Yield the changes of one watch until it ends, whyever it does."""
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
            if error.status != _GONE and error.status not in _STUMBLES:
                raise refused(f"{_title(kind)} {name}", self.namespace, error.status, error.body) from error
        except urllib3.exceptions.HTTPError:
            return
        finally:
            watch.stop()

    def _method(self, verb: str, kind: str, name: str = "", body: Object | None = None) -> Callable[..., Any]:
        """Return the client's method for a verb, with all arguments that say of what."""
        if kind in _RAY_NAMES:
            method = getattr(self._custom, f"{verb}_namespaced_custom_object")
            place: tuple[Any, ...] = (*_RAY, self.namespace, kind)
            arguments: tuple[Any, ...] = (*place, *([name] if name else []), *([] if body is None else [body]))
        else:
            verb = "read" if verb == "get" else verb
            method = getattr(self._core, f"{verb}_namespaced_{_CORE_NAMES[kind]}")
            arguments = (*([name] if name else []), self.namespace, *([] if body is None else [body]))
        kind_of_patch = {"_content_type": "application/merge-patch+json"} if verb == "patch" else {}

        def call(**options: Any) -> Any:
            given = {key: value for key, value in options.items() if value != ""}
            # As JSON: the client's own classes refuse objects of servers that are older or newer than themselves.
            plain = {"_request_timeout": _TIMEOUT_SECONDS, "_preload_content": False}
            return _json(_accepted(method(*arguments, **plain, **kind_of_patch, **given)))

        return call

    def _call(self, kind: str, name: str, act: Callable[[], T], *, absent: bool = False) -> Any:
        """Do it, again if the server stumbles; ``absent``: an object that is not there is None.

        Raises ClusterError.
        """
        what = f"{_title(kind)} {name}".strip()
        pause = _FIRST_PAUSE_SECONDS
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return act()
            except ApiException as error:
                if absent and error.status == 404 and name in str(error.body):
                    return None
                if error.status not in _STUMBLES or attempt == _ATTEMPTS:
                    raise refused(what, self.namespace, error.status, error.body) from error
            except (urllib3.exceptions.HTTPError, ConnectionError) as error:
                if attempt == _ATTEMPTS:
                    raise unreachable(self.address, error) from error
            time.sleep(pause)
            pause *= 2
        raise AssertionError("the last attempt returns or raises")


def _configure(configuration: Any, context: str | None) -> str:
    """Fill in how the cluster is reached; return the namespace that goes with it."""
    files = kubeconfig_files()
    if not files and context is None and _is_in_pod(configuration):
        return _POD_NAMESPACE.read_text(encoding="ascii").strip()
    check_kubeconfig(files, context)
    if not files:
        named = os.environ.get("KUBECONFIG")
        cause = f"{named}, which KUBECONFIG names, is not there" if named else "no cluster is configured"
        raise ClusterError(f"{cause}: have KUBECONFIG name the file with yours")
    paths = os.pathsep.join(map(str, files))
    try:
        kubernetes.config.load_kube_config(paths, context=context, client_configuration=configuration)
        contexts, active = kubernetes.config.list_kube_config_contexts(paths)
    except (kubernetes.config.ConfigException, OSError) as error:
        raise ClusterError(f"{paths} cannot be used ({error}): mend it, or name another --context") from error
    chosen: Mapping[str, Any] = next((found for found in contexts if found["name"] == context), active)
    return str(chosen["context"].get("namespace") or "default")


def _is_in_pod(configuration: Any) -> bool:
    try:
        kubernetes.config.load_incluster_config(client_configuration=configuration)
    except kubernetes.config.ConfigException:
        return False
    return True


def _accepted(response: Any) -> Any:
    """Return an answer as it came; ApiException if it is a refusal."""
    if response.status >= 300:
        raise ApiException(status=response.status, reason=response.reason, body=response.data)
    return response


def _json(response: Any) -> Any:
    return json.loads(response.data)


def _title(kind: str) -> str:
    return _RAY_NAMES.get(kind) or {"configmaps": "ConfigMap", "pods": "Pod", "events": "Event"}[kind]


def _lines(response: Any) -> Iterator[str]:
    """Yield the lines of a log; it ends where the connection does."""
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
