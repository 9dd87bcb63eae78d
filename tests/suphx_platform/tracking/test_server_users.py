"""Users that the server must not get, refused before it is asked; test_mlflow_users.py has a server."""

from __future__ import annotations

import pytest

from suphx_platform.tracking import server_users
from suphx_platform.tracking.server_users import Login, set_up_users

ADMIN, RUNS, NIGHT = (Login(name=name, password="secret") for name in ("admin", "runs", "tournament"))


@pytest.mark.parametrize(("runs", "tournament"), [(ADMIN, NIGHT), (ADMIN, None), (RUNS, ADMIN)])
def test_the_administrator_is_no_user_of_runs_or_of_the_tournament(
    runs: Login, tournament: Login | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "admin")
    with pytest.raises(ValueError, match=r"the user admin is the administrator \(MLFLOW_TRACKING_USERNAME\), whose"):
        set_up_users("http://127.0.0.1:9", runs=runs, tournament=tournament)


def test_the_administrator_may_be_named_in_the_address(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD", "TOURNAMENT_USERNAME", "TOURNAMENT_PASSWORD"):
        monkeypatch.setenv(name, "to be restored")
        monkeypatch.delenv(name)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://admin:secret@127.0.0.1:9")
    monkeypatch.setenv("RUNS_USERNAME", "admin")
    monkeypatch.setenv("RUNS_PASSWORD", "other")
    monkeypatch.setattr(server_users, "wait_for_server", lambda address: None)
    assert server_users.main() == 1
    printed = capsys.readouterr().err
    assert "the user admin is the administrator" in printed
    assert "secret" not in printed
