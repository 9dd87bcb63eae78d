from __future__ import annotations

import ast

import pytest

from tests.mutation.mutants import PAGE, Mutant, load_mutants, mutants_page
from tests.repository import REPOSITORY

MUTANTS = load_mutants()


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.fault for mutant in MUTANTS])
def test_a_mutant_changes_code_that_is_there_and_names_a_test_that_is_there(mutant: Mutant) -> None:
    text = (REPOSITORY / mutant.file).read_text(encoding="utf-8")
    assert text.count(mutant.code) == 1, f"{mutant.file} has another text now: update the mutant in mutants.toml"
    changed = text.replace(mutant.code, mutant.changed)
    assert changed != text
    if mutant.file.endswith(".py"):
        ast.parse(changed)
    path, _, name = mutant.test.partition("::")
    tests = ast.parse((REPOSITORY / path).read_text(encoding="utf-8")).body
    assert name.partition("[")[0] in {node.name for node in tests if isinstance(node, ast.FunctionDef)}


def test_the_page_has_all_of_them() -> None:
    assert PAGE.read_text(encoding="utf-8") == mutants_page(), "run make golden"


def test_code_that_is_not_there_is_an_error() -> None:
    mutant = Mutant(fault="none", file="README.md", code="no such text", changed="", test="x")
    with pytest.raises(ValueError, match=r"README.md has 'no such text' 0 times: update the mutant 'none'"):
        mutant.apply(REPOSITORY)
