"""Mahjax in an environment of its own, as ``suphx bench environments --peer mahjax`` runs it."""

from __future__ import annotations

import os
import stat
import subprocess
import venv
from pathlib import Path

import pytest

from suphx_platform.bench.environments import bench_environments
from suphx_platform.bench.mahjax_peer import PACKAGE, start_mahjax


def test_a_python_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(ValueError, match=r"--mahjax-python is .*none, which cannot be started: No such file"),
        start_mahjax(str(tmp_path / "none"), num_tables=2, num_steps=1, seed=0),
    ):
        pass


def test_a_process_that_fails_is_told_with_its_last_words(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho out of memory >&2\nexit 7\n", encoding="utf-8")
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    with (
        pytest.raises(ValueError, match="mahjax ended with status 7: out of memory"),
        start_mahjax(str(broken), num_tables=2, num_steps=1, seed=0),
    ):
        pass


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment in which pip has installed mahjax."""
    folder = tmp_path_factory.mktemp("mahjax")
    venv.create(folder, with_pip=True)
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [str(folder / "bin" / "pip"), "install", "-q", "--no-compile", "--disable-pip-version-check", PACKAGE]
    subprocess.run(command, check=True, env=clean)
    return folder / "bin" / "python"


@pytest.mark.slow
def test_mahjax_plays_as_many_decisions_as_there_are_tables_and_steps(python: Path) -> None:
    with start_mahjax(str(python), num_tables=3, num_steps=2, seed=0) as peer:
        assert peer.version == PACKAGE.partition("==")[2]
        assert peer.compile_seconds > 0
        assert [peer.play(kind) for kind in ("observed", "unobserved", "unobserved")] == [6, 6, 6]


@pytest.mark.slow
def test_mahjax_is_measured_beside_ours(python: Path) -> None:
    values = bench_environments(
        num_tables=16,
        num_steps=2,
        encoder="mini",
        opponents="random",
        seed=0,
        peers=["riichienv", "mahjax"],
        mahjax_python=str(python),
        seconds=0,
        say=lambda text: None,
    )
    peers, ratios = values["peers"], values["ratios"]
    assert isinstance(peers, dict)
    assert isinstance(ratios, dict)
    assert list(peers) == list(ratios) == ["riichienv", "mahjax"]
    ours = values["every_seat_steps_per_second"]
    for name, peer in peers.items():
        assert ratios[name]["every_seat_steps_per_second"] == pytest.approx(ours / peer["every_seat_steps_per_second"])
