"""The documents name only commands, recipe keys, make targets, pictures and pages that exist."""

from __future__ import annotations

import argparse
import functools
import itertools
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from suphx_cli.cli import build_parser
from suphx_pipelines.recipe.recipe import FanfouRecipe, MonteCarloRecipe, Recipe
from suphx_pipelines.recipe.recipe_file import flatten, to_table
from suphx_pipelines.recipe.tournament_recipe import TournamentRecipe
from tests.repository import REPOSITORY, tracked_files

DOCUMENTS = [path for path in tracked_files("*.md") if path.parent.name != "log"]
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:^\$? ?|`)((?:\.venv/bin/)?suphx [a-z][^`\n]*)", re.MULTILINE)
EVERY_RECIPE = (
    Recipe(name="any"),
    TournamentRecipe(name="any"),
    MonteCarloRecipe(name="any"),
    FanfouRecipe(name="any"),
)
KEYS = {key for recipe in EVERY_RECIPE for key in flatten(to_table(recipe))}


@functools.cache
def whole_parser() -> argparse.ArgumentParser:
    return build_parser()


def parsers(words: list[str]) -> Iterator[argparse.ArgumentParser]:
    """Yield the parser of the whole command line and those of its sub-commands."""
    parser = whole_parser()
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
    if path.name == "CHANGELOG.md":
        return  # earlier versions had other commands
    for command in commands(path):
        words = shlex.split(re.sub(r"[][,;…]", " ", command))[1:]
        known = list(parsers(words[:2]))
        options = {option for parser in known for option in parser._option_string_actions}
        assert len(known) > 1, f"{command}: there is no {words[0]}"
        assert {word.partition("=")[0] for word in words if word.startswith("-")} <= options, command
        for word, value in itertools.pairwise(words):
            if word == "--set" and value != "KEY=VALUE":
                assert value.partition("=")[0] in KEYS, f"{command}: {value}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_commands_in_code_blocks_are_accepted(path: Path) -> None:
    if path.name == "commands.md":
        return  # its blocks show the syntax, generated from the parser itself
    for block in FENCE.findall(path.read_text(encoding="utf-8").replace("\\\n", " ")):
        for line in re.findall(r"^(?:\.venv/bin/)?suphx (.+)$", block, re.MULTILINE):
            words = shlex.split(line.partition(" # ")[0])
            if "…" not in line and "--help" not in words:
                whole_parser().parse_args(words)  # SystemExit, with the parser's message, if it is not accepted


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


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_pictures_exist(path: Path) -> None:
    for place in re.findall(r'(?:src|srcset)="(?!https?:)([^"]+)"', path.read_text(encoding="utf-8")):
        assert (path.parent / place).is_file(), f"{path.name}: there is no {place}"
