"""The night that a tournament belongs to, if its recipe does not name one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from suphx_pipelines.recipe import tournament_recipe
from suphx_pipelines.recipe.tournament_recipe import load_tournament_recipe, tonight
from tests.repository import RECIPES

NIGHTLY = RECIPES / "nightly.toml"


def test_the_shipped_recipe_is_complete_and_gets_tonights_date() -> None:
    recipe = load_tournament_recipe(NIGHTLY)
    assert len(recipe.night) == len("2026-11-21")
    assert load_tournament_recipe(NIGHTLY, [("night", "x")]).night == "x"


def test_a_night_is_that_for_which_its_job_was_scheduled(monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime.now(UTC)
    scheduled = now - timedelta(hours=30)
    for name, night in (
        (f"suphx-nightly-{int(scheduled.timestamp()) // 60}", scheduled),
        ("nightly-now", now),
        ("nightly-20261125", now),
    ):
        monkeypatch.setenv("SUPHX_CRON_JOB", name)
        assert tonight() == f"{night:%Y-%m-%d}"


def test_two_nights_around_a_change_of_the_clocks_have_two_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournament_recipe, "_LATE", timedelta(days=10**4))
    monkeypatch.setenv("SUPHX_TIME_ZONE", "Europe/Berlin")
    for time in ("2027-03-28T00:30", "2027-03-28T23:30"):  # in UTC; both at 1:30 there
        minutes = int(datetime.fromisoformat(f"{time}+00:00").timestamp()) // 60
        monkeypatch.setenv("SUPHX_CRON_JOB", f"suphx-nightly-{minutes}")
        assert tonight() == f"2027-03-2{'8' if time.endswith('00:30') else '9'}"
    monkeypatch.setenv("SUPHX_TIME_ZONE", "Nowhere/City")
    assert tonight() == "2027-03-28"
