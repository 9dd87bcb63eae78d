"""Users of an MLflow server with passwords: one for runs, and one for the tournament, which alone moves the champion.

The chart runs this after each install and upgrade. For another server with MLflow's basic-auth app::

    export MLFLOW_TRACKING_URI=https://mlflow.example.org MLFLOW_TRACKING_USERNAME=admin MLFLOW_TRACKING_PASSWORD=…
    export RUNS_USERNAME=runs RUNS_PASSWORD=… TOURNAMENT_USERNAME=tournament TOURNAMENT_PASSWORD=…
    python -m suphx_platform.tracking.server_users

Running it again changes nothing, except that users get the passwords that are given now. The server's
``default_permission`` must be READ or less.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from suphx.credentials import without_credentials
from suphx.games.registry import DEFAULT_GAME, GAMES
from suphx_platform.tracking.mlflow_client import (
    EXISTS,
    FIRST,
    SERVER,
    USER,
    TrackingError,
    TrackingRefusedError,
    mlflow_call,
    quiet_client,
    server_address,
    without_error,
)
from suphx_platform.tracking.mlflow_store import make_experiment
from suphx_platform.tracking.model_registry import RegistryConfig, make_registered_model

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.server.auth.client import AuthServiceClient

MODELS = (RegistryConfig().model, *(name for name in GAMES if name != DEFAULT_GAME))
"""The registered models of the tournaments of all games, as their recipes name them."""
_WAIT_SECONDS = 600.0
_PAUSE_SECONDS = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """A user of the server."""

    name: str
    password: str = field(repr=False)

    @classmethod
    def from_environment(cls, prefix: str, environment: Mapping[str, str]) -> Login | None:
        """Return the user of ``PREFIX_USERNAME`` and ``PREFIX_PASSWORD``, None if neither is set; else ValueError."""
        names = (f"{prefix}_USERNAME", f"{prefix}_PASSWORD")
        name, password = (environment.get(each, "") for each in names)
        if bool(name) != bool(password):
            raise ValueError(f"{names[0] if not name else names[1]} is not set: {' and '.join(names)} belong together")
        return cls(name=name, password=password) if name else None


def set_up_users(address: str, *, runs: Login, tournament: Login | None = None) -> None:
    """Create both users, the experiment of all runs and the registered ``MODELS``, and grant each user what it needs.

    Both users may write into the experiment. The tournament may also change and manage the registered models;
    everybody else can only read them. The environment has the administrator's user and password. Raises TrackingError
    if the server does not answer, ValueError if two of the three users are the same.
    """
    logins = [runs] if tournament is None else [runs, tournament]
    if tournament is not None and tournament.name == runs.name:
        raise ValueError(f"runs and the tournament have the same user {runs.name}: runs could move the champion")
    for login in logins:
        if login.name == os.environ.get(USER):
            raise ValueError(
                f"the user {login.name} is the administrator ({USER}), whose password would change: give runs and the "
                "tournament users of their own (RUNS_USERNAME, TOURNAMENT_USERNAME)"
            )
    from mlflow.server.auth.client import AuthServiceClient

    client, users = quiet_client(address), AuthServiceClient(address)
    with mlflow_call(address):
        experiment = make_experiment(client, None)
        for model in MODELS:
            make_registered_model(client, model)
        for login in filter(None, (runs, tournament)):
            _put_user(users, login)
            _grant(users, login.name, "experiment", experiment, "EDIT")
        if tournament is not None:
            for model in MODELS:
                _grant(users, tournament.name, "registered_model", model, "MANAGE")


def _put_user(users: AuthServiceClient, login: Login) -> None:
    with without_error(EXISTS):
        users.create_user(login.name, login.password)
        return
    users.update_user_password(login.name, login.password)


def _grant(users: AuthServiceClient, name: str, kind: str, thing: str, permission: str) -> None:
    """Let a user have this permission, whatever it had before."""
    with without_error(EXISTS):
        users.grant_user_permission(name, kind, thing, permission)
        return
    if users.get_user_permission(name, kind, thing).permission != permission:
        users.revoke_user_permission(name, kind, thing)
        users.grant_user_permission(name, kind, thing, permission)


def wait_for_server(address: str, *, seconds: float = _WAIT_SECONDS) -> None:
    """Return when the server answers; TrackingError if it does not within ``seconds`` or refuses the user."""
    client: MlflowClient = quiet_client(address)
    ends_at = time.monotonic() + seconds
    while True:
        try:
            with mlflow_call(address, FIRST):
                client.search_experiments(max_results=1)
            return
        except TrackingRefusedError:
            raise
        except TrackingError:
            if time.monotonic() > ends_at:
                raise
            time.sleep(_PAUSE_SECONDS)


def main() -> int:
    """Set up the server that the environment names; return the exit status."""
    from mlflow.exceptions import MlflowException

    try:
        address = server_address()
        runs = Login.from_environment("RUNS", os.environ)
        if not address or runs is None:
            raise ValueError(f"set {SERVER}, RUNS_USERNAME and RUNS_PASSWORD: see the help of this module")
        tournament = Login.from_environment("TOURNAMENT", os.environ)
        wait_for_server(address)
        set_up_users(address, runs=runs, tournament=tournament)
    except (TrackingError, MlflowException, ValueError) as error:
        print(f"server_users: {without_credentials(str(error))}", file=sys.stderr)
        return 1
    names = [login.name for login in (runs, tournament) if login is not None]
    print(f"{without_credentials(address)} has the users {', '.join(names)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
