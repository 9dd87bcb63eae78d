"""Texts that a shell, YAML or an INI file could take for something else, put into every value of the chart.

A value either is refused, or ends as exactly that text in the objects: it adds no key and no object, and no word of it
reaches the command of a run, which two shells read.
"""

from __future__ import annotations

import copy
import json
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from helm_python import Chart, HelmError, HelmValuesError

from tests.helm.chart_readme import CHART
from tests.helm.everything import EVERYTHING

HOSTILE = (
    "s3://bucket/x --set name=x;id",
    "$(id)",
    "`id`",
    "a\nb: c",
    "a: b",
    "a' || id '",
    'a" && id "',
    "a b",
    "*",
    "{a: b}",
    "# a",
    "- a",
    "%(here)s",
    "\\",
)
SAFE_WORD = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
FREE_FILES = ("run.recipe", "nightly.recipe")
FREE_GROUPS = ("placement", "extraEnv", "launcher")
"""Values that may be any text, besides labels and annotations: files that are mounted, and parts of objects."""
SCHEMA = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))


def text_values(schema: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of every value that may be a text; a list has one entry, a map the key ``hostile``."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]]
    if schema.get("type") == "string":
        yield path
    for key, below in schema.get("properties", {}).items():
        yield from text_values(below, (*path, key))
    if "items" in schema:
        yield from text_values(schema["items"], (*path, "[]"))
    if isinstance(schema.get("additionalProperties"), dict):
        yield from text_values(schema["additionalProperties"], (*path, "hostile" if path != ("presets",) else "small"))


PATHS = sorted(set(text_values(SCHEMA)))
FREE = [path for path in PATHS if ".".join(path) in FREE_FILES or path[0] in FREE_GROUPS or path[-1] == "hostile"]


def with_values(paths: Iterable[tuple[str, ...]], value: str) -> dict[str, Any]:
    """Return all values of the chart with some of them changed."""
    values: Any = copy.deepcopy(EVERYTHING)
    for path in paths:
        inner: Any = value
        for key in reversed(path):
            inner = [inner] if key == "[]" else {key: inner}
        values = _merged(values, inner)
    return dict(values)


def _merged(first: Any, second: Any) -> Any:
    if isinstance(first, dict) and isinstance(second, dict):
        return {**first, **{key: _merged(first.get(key), value) for key, value in second.items()}}
    if isinstance(first, list) and first and isinstance(second, list) and isinstance(first[0], dict):
        return [_merged(first[0], second[0])]
    return second


def rendered(chart: Chart, values: dict[str, Any]) -> list[dict[str, Any]]:
    texts = chart.render(values, name="suphx", namespace="mahjong")
    manifests = [text for path, text in sorted(texts.items()) if path.endswith(".yaml")]
    return [found for text in manifests for found in yaml.load_all(text, yaml.CSafeLoader) if found]


def shape(found: Any) -> Any:
    """Return keys and lengths without the texts."""
    if isinstance(found, dict):
        return {key: shape(value) for key, value in found.items()}
    if isinstance(found, list):
        return [shape(value) for value in found]
    return type(found).__name__


def commands(objects: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the commands that shells read: of the RayJob, and of those that ConfigMaps keep for launcher and resume."""
    for one in objects:
        if one["kind"] == "RayJob":
            yield one["spec"]["entrypoint"]
        for key, text in (one.get("data") or {}).items() if one["kind"] == "ConfigMap" else ():
            if key.startswith("rayjob"):
                yield yaml.load(text, yaml.CSafeLoader)["spec"]["entrypoint"]


@pytest.mark.parametrize("path", [path for path in PATHS if path not in FREE], ids=".".join)
def test_a_hostile_value_is_refused(chart: Chart, path: tuple[str, ...]) -> None:
    for hostile in HOSTILE:
        with pytest.raises(HelmValuesError):  # else give it a pattern in values.schema.json
            chart.validate_schema(with_values([path], hostile))


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_value_that_may_be_any_text_stays_a_text(chart: Chart, hostile: str) -> None:
    open_paths = [path for path in FREE if _is_accepted(chart, path, hostile)]
    assert ("run", "recipe") in open_paths
    objects = rendered(chart, with_values(open_paths, hostile))
    assert shape(objects) == shape(rendered(chart, with_values(open_paths, "harmless")))
    assert json.dumps(hostile)[1:-1] in json.dumps(objects, ensure_ascii=False)
    found = list(commands(objects))
    assert len(found) == 1 + 1 + 3  # of the run, of its copy in the ConfigMap, of the presets
    for command in found:
        assert all(SAFE_WORD.fullmatch(word) for word in command.split(" ")), command


@pytest.mark.parametrize("text", ["7", "1e3", "on", "null"])
def test_a_text_that_yaml_reads_as_something_else_stays_a_text(chart: Chart, text: str) -> None:
    harmless = f"a{text}"
    one_each = ("preset", "nightly.trackingSecretName")  # the name of a preset; another name than that of runs
    paths = [
        path
        for path in PATHS
        if ".".join(path) not in one_each and _is_accepted(chart, path, text) and _is_accepted(chart, path, harmless)
    ]
    assert ("kueue", "queueName") in paths
    expected = rendered(chart, with_values(paths, harmless))
    assert shape(rendered(chart, with_values(paths, text))) == shape(expected)


def _is_accepted(chart: Chart, path: tuple[str, ...], value: str) -> bool:
    try:
        chart.validate_schema(with_values([path], value))
    except HelmValuesError:
        return False
    return True


def test_the_values_that_reach_a_command_are_refused_without_the_schema_too(tmp_path: Path) -> None:
    # helm install --skip-schema-validation
    folder = shutil.copytree(CHART, tmp_path / "suphx")
    (folder / "values.schema.json").unlink()
    with Chart.load(folder) as chart:
        for path in (("storage", "address"), ("run", "name"), ("run", "arguments", "[]"), ("run", "waitHours")):
            for hostile in HOSTILE:
                if not SAFE_WORD.fullmatch(hostile):
                    with pytest.raises(
                        HelmError, match="cannot be part of the command of a run, which two shells read"
                    ):
                        chart.render(with_values([path], hostile), name="suphx", namespace="mahjong")
        (command, *_) = commands(rendered(chart, EVERYTHING))
        assert "--set storage.address=s3://bucket/runs" in command
