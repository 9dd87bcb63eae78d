"""The live page is written and copied to MLflow while games come in, whether or not MLflow answers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from suphx_pipelines.report.report_page import Sections
from suphx_pipelines.tournament import report
from suphx_pipelines.tournament.report import LivePage
from suphx_platform.tracking.mlflow_client import TrackingError
from suphx_platform.tracking.outbox import Outbox
from suphx_platform.tracking.tracking import Tracker, TrackingStore
from tests.suphx_pipelines.runs.small_run import context_of
from tests.suphx_pipelines.tournament.small_tournament import SMALL


def content(text: str) -> Callable[[], tuple[str, Sections]]:
    return lambda: (text, [("Links", '<p><a href="report.html">here</a></p>')])


def test_the_page_reloads_itself_and_its_copy_is_an_artifact_of_the_tournament(runs: Path, tmp_path: Path) -> None:
    store = TrackingStore(runs)
    with closing(store), store.start("nightly-1", key="nightly-1") as whole:
        with whole.start("leaderboard", key="nightly-1/leaderboard/1") as stage:
            page = LivePage(context_of(SMALL, stage, tmp_path / "leaderboard"), "leaderboard")
            page.offer(content("one wall"))
            page.offer(content("two walls"))  # before ten seconds are over
        whole.flush()
        shown = (tmp_path / "leaderboard" / "live.html").read_text(encoding="utf-8")
        assert "<p>one wall</p>" in shown
        assert '<a href="report.html">here</a>' in shown
        assert '<meta http-equiv="refresh" content="10"><title>' in shown
        copy = Path(store.client.download_artifacts(whole.run_id, "live.html", str(tmp_path)))
        assert "<p>one wall</p>" in (text := copy.read_text(encoding="utf-8"))
        assert "MLflow gets a new page about every 60 seconds" in text
        assert "http-equiv" not in text, "nothing can reload it in MLflow's frame"
        assert "<p>here</p>" in text, "the file is not beside it"
        with whole.start("decision", key="nightly-1/decision/1") as stage:
            LivePage(context_of(SMALL, stage, tmp_path / "decision"), "match").write_last(content("the match"))
        whole.flush()
        copy = Path(store.client.download_artifacts(whole.run_id, "live.html", str(tmp_path)))
        assert "<p>the match</p>" in (text := copy.read_text(encoding="utf-8"))
        assert "MLflow gets a new page" not in text


def test_while_mlflow_is_away_the_games_go_on_and_one_copy_waits(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RELOAD_SECONDS", "TRACKED_SECONDS", "_PAUSE_SHARE"):
        monkeypatch.setattr(report, name, 0)

    def refuse(*_: object) -> None:
        raise TrackingError("nobody answers")

    outbox = Outbox(tmp_path / ".mlflow-queue", send=refuse, probe=refuse)
    tracker = Tracker(TrackingStore(runs), outbox, "nightly-1")
    page = LivePage(context_of(SMALL, tracker, tmp_path / "leaderboard"), "leaderboard")
    page.offer(content("wall 0"))
    with pytest.raises(TrackingError):
        outbox.flush()
    for wall in range(1, 20):
        page.offer(content(f"wall {wall}"))
    assert "wall 19" in (tmp_path / "leaderboard" / "live.html").read_text(encoding="utf-8")
    assert tracker.figures()["tracking_waiting"] == 1
    page.write_last(content("all walls"))
    assert tracker.figures()["tracking_waiting"] == 2
    assert "all walls" in (tmp_path / "leaderboard" / "mlflow" / "live.html").read_text(encoding="utf-8")
    outbox.close()
