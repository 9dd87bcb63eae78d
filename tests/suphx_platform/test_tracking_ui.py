from __future__ import annotations

from pathlib import Path

import pytest

from suphx_platform.tracking_ui import serve_ui


def test_the_interface_is_not_served_without_a_store(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no mlflow\.db"), serve_ui(tmp_path, 5000):
        pass


def test_a_server_has_its_own_interface(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://mlflow.example.org")
    with pytest.raises(ValueError, match=r"open that address, or unset it to see the runs of"), serve_ui(runs, 5000):
        pass
