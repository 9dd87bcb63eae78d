from __future__ import annotations

from pathlib import Path

import alembic.command
import pytest

from suphx_platform.tracking.client.mlflow_database import make_database
from suphx_platform.tracking.mlflow_store import MlflowStore


def test_a_start_that_is_stopped_leaves_no_half_of_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(alembic.command, "upgrade", stop)  # after the tables, before their version is written
        with pytest.raises(KeyboardInterrupt):
            MlflowStore(tmp_path).reach()
    assert list(tmp_path.iterdir()) == []
    MlflowStore(tmp_path).reach()
    assert [path.name for path in tmp_path.iterdir()] == ["mlflow.db"]


def test_a_database_that_is_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "mlflow.db"
    path.write_bytes(b"")
    make_database(path)
    assert path.read_bytes() == b""
