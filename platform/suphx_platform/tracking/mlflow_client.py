"""MLflow's client, the time limits of its calls and their errors: no call blocks a command or a run for long.

MLflow's own settings in the user's environment take precedence.
"""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from suphx.credentials import has_credentials, is_unclear, without_credentials
from suphx.printable_text import first_line

if TYPE_CHECKING:
    from mlflow import MlflowClient

SERVER = "MLFLOW_TRACKING_URI"
QUIET: Mapping[str, str] = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "GIT_PYTHON_REFRESH": "quiet",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # processes for a feature that is not used
}
"""Environment variables with which MLflow sends no telemetry and prints nothing by itself."""
_OF_FILES = ("sqlite:", "file:")
USER, _PASSWORD = "MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD"
_TIMEOUT, _RETRIES = "MLFLOW_HTTP_REQUEST_TIMEOUT", "MLFLOW_HTTP_REQUEST_MAX_RETRIES"
Patience = Mapping[str, str]
FIRST: Patience = {_TIMEOUT: "4", _RETRIES: "1"}
"""For the first contact with a server: an answer, or an error, within ten seconds."""
USUAL: Patience = {_TIMEOUT: "10", _RETRIES: "1"}
"""During a run, which waits meanwhile."""
FILES: Patience = {_TIMEOUT: "120", _RETRIES: "1"}
"""For files, which the server may forward before it answers."""
_STATUS = re.compile(r"(?:too many|failed with error code) (\d{3})")
"""In the texts of errors of MLflow's client, for an answer that is no JSON or that it has asked for in vain."""
_NOT_THERE = ("502", "503", "504")
"""Answers of a proxy in the place of a server that is away."""
_active: list[Patience] = []
_ours: dict[str, str] = {}
_lock = threading.Lock()
_REFUSED_ACCESS = ("CUSTOMER_UNAUTHORIZED", "PERMISSION_DENIED", "UNAUTHENTICATED")
_AWAY = (
    *_REFUSED_ACCESS,
    "ABORTED",
    "CANCELLED",
    "DEADLINE_EXCEEDED",
    "ENDPOINT_NOT_FOUND",  # also the answer of a proxy for a server that is away
    "INTERNAL_ERROR",  # also the code of MLflow's client for a server that it cannot reach
    "REQUEST_LIMIT_EXCEEDED",
    "RESOURCE_EXHAUSTED",
    "TEMPORARILY_UNAVAILABLE",
)
_REFUSALS = (400, 405, 409, 411, 413, 414, 415, 422, 431)
"""Answers of HTTP that will be the same next time."""
_S3_REFUSALS = ("EntityTooLarge", "KeyTooLongError", "MetadataTooLarge", "MethodNotAllowed")
"""The same of a bucket, whose status 400 may also mean a timeout or old keys."""
_CARRIERS = ("boto3", "botocore", "requests", "sqlalchemy", "urllib3")
"""Libraries below MLflow, whose errors it does not wrap."""
EXISTS, MISSING = "RESOURCE_ALREADY_EXISTS", "RESOURCE_DOES_NOT_EXIST"


class TrackingError(OSError):
    """MLflow, or where it keeps files, cannot be reached or used now; the same call may succeed later."""


class TrackingRefusedError(TrackingError, PermissionError):
    """MLflow answers, and refuses user and password: waiting does not help."""


@contextmanager
def mlflow_call(address: str, patience: Patience = USUAL) -> Iterator[None]:
    """Limit the calls of the block to ``patience``; TrackingError if ``address`` does not answer.

    A wrong call still raises its MlflowException.
    """
    with patient(patience):
        try:
            yield
        except Exception as error:
            if isinstance(error, TrackingError) or not _is_away(error):
                raise
            kind = TrackingRefusedError if getattr(error, "error_code", "") in _REFUSED_ACCESS else TrackingError
            raise kind(_told(address, error)) from error


@contextmanager
def patient(patience: Patience) -> Iterator[None]:
    """Limit the calls of the block to the user's environment settings, else to ``patience``."""
    with _lock:
        _active.append(patience)
        _apply()
    try:
        yield
    finally:
        with _lock:
            _active.remove(patience)
            _apply()


def _apply() -> None:
    """Set what the calls of all threads wait for now: MLflow reads the environment, and the most patient one wins."""
    for name in (_TIMEOUT, _RETRIES):
        if name in os.environ and os.environ[name] != _ours.get(name):
            _ours.pop(name, None)  # the user's
            continue
        if _active:
            _ours[name] = os.environ[name] = max((patience[name] for patience in _active), key=int)
        elif name in _ours:
            del os.environ[name], _ours[name]


def server_address() -> str:
    """Return the address of the server that the environment names, or nothing; its user and password are moved.

    MLflow takes them from variables of their own, and an address without them may be printed and stored. ValueError if
    it cannot be told where they end.
    """
    address = os.environ.get(SERVER, "")
    if not address.lower().startswith(_OF_FILES) and is_unclear(address):
        raise ValueError(
            f"{SERVER} has an @ behind its host: if user and password are in it, remove them and set {USER} and "
            f"{_PASSWORD}; write another @ as %40"
        )
    if has_credentials(address):
        parts = urlsplit(address)
        if USER not in os.environ:
            os.environ[USER], os.environ[_PASSWORD] = unquote(parts.username or ""), unquote(parts.password or "")
        address = os.environ[SERVER] = without_credentials(address)
    return address


def _is_away(error: Exception) -> bool:
    code = getattr(error, "error_code", None)  # of an MlflowException
    if code is not None:
        status = _STATUS.search(str(error))
        return code in _AWAY and not (status and int(status[1]) in _REFUSALS)
    answer = getattr(error, "response", None)  # of an error of requests or boto3
    if isinstance(answer, Mapping) and answer.get("Error", {}).get("Code") in _S3_REFUSALS:
        return False
    if getattr(answer, "status_code", None) in _REFUSALS:
        return False
    return isinstance(error, OSError) or is_of_carrier(error)


def is_of_carrier(error: Exception) -> bool:
    """Tell whether an error is of a library below MLflow, such as boto3, which MLflow has not made its own."""
    return type(error).__module__.partition(".")[0] in _CARRIERS


def _told(address: str, error: Exception) -> str:
    if not address.startswith("http"):
        return (
            f"the MLflow store {address} cannot be used ({_cause(error)}): check that its disk has free "
            "space and is writable; if the file is damaged, move it away: the next run creates a new one"
        )
    if getattr(error, "error_code", "") in _REFUSED_ACCESS:
        return (
            f"MLflow at {address} refuses access ({_cause(error)}): set MLFLOW_TRACKING_USERNAME and "
            "MLFLOW_TRACKING_PASSWORD to a user with write access"
        )
    status = _STATUS.search(str(error))
    if status and status[1].startswith("3"):
        return (
            f"MLflow at {address} redirects to another address (status {status[1]}): set MLFLOW_TRACKING_URI to that "
            "one, such as https:// instead of http://"
        )
    if status and status[1] not in _NOT_THERE:
        return (
            f"MLflow at {address} answers with status {status[1]}: see its log for the reason, and check that "
            "MLFLOW_TRACKING_URI is correct"
        )
    return (
        f"MLflow at {address} does not answer ({_cause(error)}): check that it runs and that MLFLOW_TRACKING_URI is "
        f"correct, or unset it to track runs in a local file; for a slow server set {_TIMEOUT} "
        f"(now {os.environ[_TIMEOUT]} s) or {_RETRIES} (now {os.environ[_RETRIES]})"
    )


_KNOWN_CAUSE = re.compile(
    "Connection refused|Name or service not known|No route to host|Network is unreachable|database or disk is full"
)


def _cause(error: Exception) -> str:
    """Return the innermost reason, without the names of the classes around it."""
    text = str(error).strip()
    if "timed out" in text or "timeout" in text:
        return f"no answer in {os.environ.get(_TIMEOUT, '120')} s"
    known = _KNOWN_CAUSE.search(text)
    return known[0].lower() if known else first_line(error)


def quiet_client(uri: str) -> MlflowClient:
    """Return a client of MLflow that sends no telemetry and prints nothing by itself."""
    os.environ.update(QUIET)  # before the import, in which MLflow decides on telemetry
    os.environ.setdefault("MLFLOW_ALLOW_HTTP_REDIRECTS", "false")  # a POST would become a GET, which means another call
    from mlflow import MlflowClient

    for name in ("mlflow", "alembic"):
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("mlflow.store.db.utils").setLevel(logging.CRITICAL)  # it logs the errors that it raises
    return MlflowClient(tracking_uri=uri)


@contextmanager
def without_error(code: str) -> Iterator[None]:
    """Pass over an error of MLflow with this code, such as that something exists already."""
    from mlflow.exceptions import MlflowException

    try:
        yield
    except MlflowException as error:
        if error.error_code != code:
            raise


def make_database(path: Path) -> None:
    """Let MLflow create the sqlite database ``path`` unless it is there; OSError if the folder cannot be written.

    It appears whole: MLflow makes its tables in many steps, and cannot repair half of them. A process that is stopped
    meanwhile leaves none. Of two that create it at once, the first one's stays.
    """
    if path.exists():
        return
    with TemporaryDirectory(dir=path.parent, prefix=".mlflow-", ignore_cleanup_errors=True) as space:
        new = Path(space) / path.name
        store = quiet_client(f"sqlite:///{new}")._tracking_client.store
        store.search_experiments(max_results=1)
        store.engine.dispose()
        try:
            os.link(new, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            new.replace(path)
