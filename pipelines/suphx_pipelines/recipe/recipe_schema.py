"""The JSON schema of recipes, by which editors complete and check them: from the dataclasses and their docstrings.

``suphx recipes --schema`` prints it, and docs/recipe.md is made from it.
"""

from __future__ import annotations

import ast
import inspect
import types
import typing
from typing import Any

from suphx.number_range import Range
from suphx_pipelines.recipe.recipe import FanfouRecipe, MonteCarloRecipe, Recipe
from suphx_pipelines.recipe.recipe_file import recipe_fields, table_class, to_plain
from suphx_pipelines.recipe.tournament_recipe import TournamentRecipe

Schema = dict[str, Any]
_EXTENDS = "Name of a shipped recipe, or path of a file beside this one, whose values hold where this one sets none."
_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}


def recipe_schema() -> Schema:
    """Return the schema of all kinds of recipes."""
    classes = (Recipe, TournamentRecipe, MonteCarloRecipe, FanfouRecipe)
    kinds = [table_schema(kind(name="any")) for kind in classes]
    for kind in kinds:
        kind["properties"]["extends"] = {"type": "string", "description": _EXTENDS}
    return {"$schema": "http://json-schema.org/draft-07/schema#", "title": "Recipe of suphx", "anyOf": kinds}


def table_schema(config: Any) -> Schema:
    """Return the schema of a table of a recipe; ``config``: with all defaults."""
    cls = type(config)
    hints, docs = typing.get_type_hints(cls, include_extras=True), field_docs(cls)
    properties: dict[str, Schema] = {}
    for name in (field.name for field in recipe_fields(cls)):
        value = getattr(config, name)
        if (table := table_class(hints[name])) is not None:
            properties[name] = {**table_schema(value or table()), "description": docs[name]}
        else:
            properties[name] = {**_value_schema(hints[name]), "description": docs[name], "default": to_plain(value)}
    summary = " ".join((inspect.getdoc(cls) or "").partition("\n\n")[0].split())
    return {"type": "object", "title": summary, "properties": properties, "additionalProperties": False}


def _value_schema(hint: Any) -> Schema:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        allowed: Range = arguments[1]
        low = "minimum" if allowed.closed in ("both", "left") else "exclusiveMinimum"
        high = "maximum" if allowed.closed in ("both", "right") else "exclusiveMaximum"
        return {**_value_schema(arguments[0]), low: allowed.low, high: allowed.high}
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin is tuple:
        return {"type": "array", "items": _value_schema(arguments[0])}
    if origin in (typing.Union, types.UnionType):
        return _value_schema(next(each for each in arguments if each is not type(None)))
    return {"type": _TYPES[hint]}


def field_docs(cls: type[Any]) -> dict[str, str]:
    """Return the docstrings of the fields of a class, each as one line."""
    (body,) = ast.parse(inspect.getsource(cls)).body
    assert isinstance(body, ast.ClassDef)
    docs = {} if cls.__base__ in (None, object) else field_docs(cls.__base__)
    for field, below in zip(body.body, body.body[1:], strict=False):
        match field, below:
            case (ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text)))):
                docs[name] = " ".join(text.split())
    return docs
