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
from tests.code_blocks import PYTHON, SHELL, TEXT, code_blocks, texts
from tests.repository import REPOSITORY, tracked_files

DOCUMENTS = tracked_files("*.md")
PAGES = [path for path in DOCUMENTS if path.parent.name != "log" and path.name != "CHANGELOG.md"]
"""Without the pages about the past, whose commands and keys may be gone."""
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:^\$? ?|`)((?:\.venv/bin/)?suphx [a-z][^`\n]*)", re.MULTILINE)
RECIPES = (Recipe(name="any"), TournamentRecipe(name="any"), MonteCarloRecipe(name="any"), FanfouRecipe(name="any"))
KEYS = {key for recipe in RECIPES for key in flatten(to_table(recipe))}


def name_of(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


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
    """Return all command lines of a document, also those inside sentences."""
    text = path.read_text(encoding="utf-8").replace("\\\n", " ").replace("\\|", "|")
    return [found.partition(" # ")[0] for found in COMMAND.findall(text)]


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_commands_have_the_options_and_keys_that_documents_name(path: Path) -> None:
    for command in commands(path):
        words = shlex.split(re.sub(r"[][,;…]", " ", command))[1:]
        known = list(parsers(words[:2]))
        options = {option for parser in known for option in parser._option_string_actions}
        assert len(known) > 1, f"{command}: there is no {words[0]}"
        assert {word.partition("=")[0] for word in words if word.startswith("-")} <= options, command
        for word, value in itertools.pairwise(words):
            if word == "--set" and value != "KEY=VALUE":
                assert value.partition("=")[0] in KEYS, f"{command}: {value}"


def test_commands_in_code_blocks_are_accepted() -> None:
    for path in PAGES:
        for block in texts(path, SHELL) if path.name != "commands.md" else []:  # its blocks show the parser's syntax
            for line in re.findall(r"^(?:\.venv/bin/)?suphx (.+)$", block.replace("\\\n", " "), re.MULTILINE):
                words = shlex.split(line.partition(" # ")[0])
                if "…" not in line and "--help" not in words:
                    whole_parser().parse_args(words)  # SystemExit, with the parser's message, if it is not accepted


def test_every_block_has_a_language_that_a_test_reads() -> None:
    unknown = [
        f"{name_of(path)}:{block.line}"
        for path in DOCUMENTS
        for block in code_blocks(path)
        if block.language not in (SHELL, PYTHON, TEXT)
    ]
    assert unknown == [], f"use no language for commands, {PYTHON}, or {TEXT} for what is not code"


def test_links_and_pictures_lead_somewhere() -> None:
    broken = []
    for path in DOCUMENTS:
        text = FENCE.sub("", path.read_text(encoding="utf-8"))
        for place, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", text):
            target = (path.parent / place) if place else path
            if not target.exists() or (anchor and anchor not in anchors(target)):
                broken.append(f"{name_of(path)}: {place}#{anchor}")
        for place in re.findall(r'(?:src|srcset)="(?!https?:)([^"]+)"', text):
            if not (path.parent / place).is_file():
                broken.append(f"{name_of(path)}: {place}")
    assert broken == []


@functools.cache
def anchors(path: Path) -> set[str]:
    """Return what the headings of a document are called in links."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-")) for heading in headings}


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for path in PAGES:
        named = set(re.findall(r"(?:`|^)make ([a-z-]+)", path.read_text(encoding="utf-8"), re.MULTILINE))
        assert named <= targets, name_of(path)
