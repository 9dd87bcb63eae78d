"""What the documents say of commands, keys of recipes, make targets and other documents is so."""

from __future__ import annotations

import argparse
import itertools
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from suphx_pipelines.recipe import Recipe
from suphx_pipelines.recipe_file import flatten, to_table
from suphx_pipelines.tournament_recipe import TournamentRecipe
from suphx_platform.cli import build_parser

REPOSITORY = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted(
    path for path in REPOSITORY.rglob("*.md") if not path.relative_to(REPOSITORY).parts[0].startswith(".")
)
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:^\$? ?|`)((?:\.venv/bin/)?suphx [a-z][^`\n]*)", re.MULTILINE)
KEYS = flatten(to_table(Recipe(name="-"))).keys() | flatten(to_table(TournamentRecipe(name="-"))).keys()


def parsers(words: list[str]) -> Iterator[argparse.ArgumentParser]:
    """Yield the parser of the whole command line and those of its sub-commands."""
    parser = build_parser()
    yield parser
    for word in words:
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction) and word in action.choices:
                parser = action.choices[word]
                yield parser


def commands(path: Path) -> list[str]:
    """Return all command lines of a document, without what stands for something else."""
    text = path.read_text(encoding="utf-8").replace("\\\n", " ").replace("\\|", "|")
    return [found.partition(" # ")[0] for found in COMMAND.findall(text)]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_commands_have_the_options_and_keys_that_documents_say(path: Path) -> None:
    for command in commands(path):
        words = shlex.split(re.sub(r"[][,;…]", " ", command))[1:]
        known = list(parsers(words[:2]))
        options = {option for parser in known for option in parser._option_string_actions}
        assert len(known) > 1, f"{command}: there is no {words[0]}"
        assert {word for word in words if word.startswith("-")} <= options, command
        for word, value in itertools.pairwise(words):
            if word == "--set" and value != "KEY=VALUE":
                assert value.partition("=")[0] in KEYS, f"{command}: {value}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_links_lead_somewhere(path: Path) -> None:
    for place, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", FENCE.sub("", path.read_text("utf-8"))):
        target = (path.parent / place) if place else path
        assert target.exists(), f"{path.name}: there is no {place}"
        if anchor:
            assert anchor in anchors(target), f"{path.name}: {place} has no #{anchor}"


def anchors(path: Path) -> set[str]:
    """Return what the headings of a document are called in links."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-")) for heading in headings}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_make_targets_exist(path: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"(?:`|^)make ([a-z-]+)", path.read_text(encoding="utf-8"), re.MULTILINE))
    assert named <= targets


def test_every_document_is_named_in_the_readme() -> None:
    named = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    pages = [str(path.relative_to(REPOSITORY)) for path in DOCUMENTS if path.parent != REPOSITORY]
    assert [page for page in pages if f"]({page})" not in named] == []
