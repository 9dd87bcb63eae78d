"""No module asks for the name of a game but those of the game, its page and its recipes: what a game has is asked."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from suphx.games.registry import GAMES
from tests.repository import REPOSITORY

MOVES = {
    "pipelines/suphx_pipelines/play/riichi_terminal.py",
    "pipelines/suphx_pipelines/report/report.py",
    "pipelines/suphx_pipelines/report/report_nets.py",
    "pipelines/suphx_pipelines/stages/supervised.py",
    "suphx/evaluation/review.py",
}
"""Here riichi is a move, or the decision about it."""
LEFT = dict.fromkeys(
    ("platform/suphx_platform/tracking/server_users.py", "pipelines/suphx_pipelines/recipe/tournament_recipe.py"),
    "the model of the usual game has the name of the agent",
)
"""What remains, with its reason. This list only becomes shorter."""


def without_calls(part: ast.AST) -> Iterator[ast.AST]:
    """Yield what is compared: a function that is given the name of a game asks nothing."""
    yield part
    for inner in () if isinstance(part, ast.Call) else ast.iter_child_nodes(part):
        yield from without_calls(inner)


def asked_names(tree: ast.AST) -> Iterator[int]:
    """Yield the lines in which a name of a game is compared, or is a key or a case."""
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.Dict):
            parts = list(node.keys)
        elif isinstance(node, ast.match_case):
            parts = [node.pattern]
        for each in (inner for part in parts if part is not None for inner in without_calls(part)):
            is_name = isinstance(each, ast.Constant) and each.value in GAMES
            if isinstance(each, ast.expr) and (is_name or (isinstance(each, ast.Name) and each.id == "DEFAULT_GAME")):
                yield each.lineno


def asking_modules() -> set[str]:
    """Return the modules in which a game's name is asked, without those of the games."""
    found = set()
    for folder in ("suphx", "platform", "pipelines"):
        for path in (REPOSITORY / folder).rglob("*.py"):
            name = path.relative_to(REPOSITORY).as_posix()
            is_own = any(name.startswith(f"suphx/games/{game}/") for game in GAMES)
            if not is_own and any(asked_names(ast.parse(path.read_text(encoding="utf-8")))):
                found.add(name)
    return found


def test_no_module_asks_which_game_it_is_but_those_that_are_known() -> None:
    assert sorted(asking_modules() - MOVES - set(LEFT)) == []
    assert set(LEFT) <= asking_modules(), "it does not ask any more: shorten the list"
