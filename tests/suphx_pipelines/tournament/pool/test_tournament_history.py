"""What a tournament keeps of its games besides their results: which code has decided them."""

from __future__ import annotations

import shutil
from pathlib import Path

from suphx.kernel import source_closure
from suphx_pipelines.tournament.pool.tournament_history import game_sources
from tests.repository import REPOSITORY

DECIDING = (
    "suphx/kernel/random_number.py",
    "suphx/games/riichi/engine/legal.py",
    "suphx/models/inference/packed_net.py",
    "suphx/selfplay/agents/choice.py",
    "suphx/training/adaptation/adapter.py",
    "suphx_platform/agents/mjai/mjai_agent.py",
)
OTHERS = ("suphx/evaluation/rating/rating.py", "suphx/training/supervised/supervised.py")


def test_changed_code_is_another_engine_only_if_it_decides_games(tmp_path: Path) -> None:
    roots = (tmp_path / "core", tmp_path / "platform")
    only_sources = shutil.ignore_patterns("__pycache__")
    shutil.copytree(REPOSITORY / "suphx", roots[0] / "suphx", ignore=only_sources)
    shutil.copytree(REPOSITORY / "platform" / "suphx_platform", roots[1] / "suphx_platform", ignore=only_sources)
    before = game_sources(roots)
    assert before == game_sources(), "the copy is the same code"
    for name in DECIDING + OTHERS:
        (path,) = (root / name for root in roots if (root / name).is_file())
        path.write_text(path.read_text(encoding="utf-8") + "\nCHANGED = True\n", encoding="utf-8")
    source_closure.forget()
    after = game_sources(roots)
    assert {name for name, digest in after.items() if digest != before[name]} == set(DECIDING)
    assert set(after) == set(before)
