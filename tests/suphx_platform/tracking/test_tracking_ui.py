"""With a real store, and a real server as `suphx ui` starts it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import psutil
import pytest

from suphx_cli import cli
from suphx_platform.tracking.tracking import TrackingStore
from suphx_platform.tracking.tracking_ui import artifact_pages, page_address, serve_ui
from tests.free_port import free_port


def test_the_interface_is_not_served_without_a_store(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no mlflow\.db"), serve_ui(tmp_path, 5000):
        pass


@pytest.mark.parametrize("address", ["sqlite:///other.db", "mlruns"])
def test_a_store_that_is_no_server_has_no_link(
    address: str, runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    assert cli.main(["ui", "--runs", str(runs), "--port", str(free_port())]) == 1
    assert f"MLFLOW_TRACKING_URI is set to {address}, which is not a server" in capsys.readouterr().err
    assert list(tmp_path.glob("*.db")) == []


def test_a_link_opens_the_list_of_runs_or_one_run(runs: Path) -> None:
    store = TrackingStore(runs)
    run = store.start("laptop-1", key="laptop-1").run_id
    place = f"http://127.0.0.1:5000/#/experiments/{store.experiment_id()}/runs"
    view = "viewStateShareKey=suphx-verdicts"
    assert page_address(store, "http://127.0.0.1:5000/") == f"{place}?workflowType=machine_learning&{view}"
    columns = json.loads(
        store.client.get_experiment(store.experiment_id()).tags["mlflow.sharedViewState.suphx-verdicts"]
    )
    assert columns["orderByKey"] == columns["selectedColumns"][0] == "metrics.`verdict/difference`"
    assert page_address(store, "http://127.0.0.1:5000", "laptop-1") == f"{place}/{run}?workflowType=machine_learning"
    with pytest.raises(ValueError, match=r"no run 'labtop-1' in MLflow .*: did you mean laptop-1"):
        page_address(store, "http://127.0.0.1:5000", "labtop-1")
    with pytest.raises(ValueError, match=r"no run \"laptop'1\" in MLflow .*: did you mean laptop-1"):
        page_address(store, "http://127.0.0.1:5000", "laptop'1")


def test_pages_of_artifacts_are_found_for_all_runs_of_a_name_without_their_stages(runs: Path) -> None:
    store = TrackingStore(runs)
    first, second = (store.start(name, key=name) for name in ("night_ly-1", "night_ly-2"))
    stage = first.start("report", key="night_ly-1/report/1")
    store.start("nightxly-1", key="nightxly-1")
    assert stage.run_id
    place = f"#/experiments/{store.experiment_id()}/runs"
    assert artifact_pages(store, "night_ly-", "report.html") == {
        "night_ly-1": f"{place}/{first.run_id}/artifacts/report.html?workflowType=machine_learning",
        "night_ly-2": f"{place}/{second.run_id}/artifacts/report.html?workflowType=machine_learning",
    }


def listening_hosts(process: int) -> set[str]:
    """Return the addresses on which a process and its children wait for connections."""
    parent = psutil.Process(process)
    family = [parent, *parent.children(recursive=True)]
    sockets = [one for each in family for one in each.net_connections("inet")]
    return {one.laddr.ip for one in sockets if one.status == psutil.CONN_LISTEN}


@pytest.mark.slow
def test_the_command_serves_the_pages_that_its_link_names_until_ctrl_c(runs: Path) -> None:
    run = TrackingStore(runs).start("laptop-1", key="laptop-1").run_id
    suphx = [sys.executable, "-m", "suphx_cli.cli"]
    command = [*suphx, "ui", "laptop-1", "--runs", str(runs), "--json"]  # at a free port
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        url = json.loads(process.stdout.readline())["url"]
        server = url.partition("/#/")[0]
        with urlopen(f"{server}/ajax-api/2.0/mlflow/runs/get?run_id={run}", timeout=300) as answer:
            assert json.load(answer)["run"]["info"]["run_name"] == "laptop-1"
        with urlopen(f"{server}/ajax-api/3.0/mlflow/ui-telemetry", timeout=300) as answer:
            assert json.load(answer)["disable_ui_telemetry"] is True
        assert listening_hosts(process.pid) == {"127.0.0.1"}
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        told = process.stderr.read()
    assert run in url
    assert "The page is served to this machine only. Press Ctrl-C to stop." in told
    assert "[MLflow]" not in told
