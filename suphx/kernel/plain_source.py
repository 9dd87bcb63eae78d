"""Functions and kernels as one file of plain Python that needs neither this project nor numba, and runs from 3.6 on.

For places where nothing can be installed, such as arenas of submitted programs. ``carry`` follows the names that the
functions use. Functions and classes are copied without annotations, docstrings and decorators; constants as their
values, so what computes them is not needed there. Modules of Python, and numpy outside of kernels, are imported.

In kernels, arrays of numpy and records become those of plain_arrays.py. So a kernel can be carried if it uses arrays by
single elements, fills or copies parts of them, and does not rely on numbers that overflow.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
import textwrap
from collections.abc import Mapping
from math import isfinite
from types import ModuleType
from typing import Any

import numpy as np

from suphx.kernel.plain_arrays import (
    Fields,
    Ints,
    add_to_part,
    arange,
    copied,
    field_shapes,
    fill_part,
    full,
    new_records,
    take_part,
    zeros,
)

_NUMBERS = ("bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")


def carry(main: Any, constants: Mapping[str, Any] | None = None) -> str:
    """Return a file that runs the function ``main``, without arguments, when it is started.

    ``constants``: values by the names of globals that have others there. ValueError for a value that has no source.
    """
    carrier = _Carrier(constants or {}, {_package(main), _package(carry)})
    name = carrier.name_of(main, main.__name__)
    return carrier.text() + f'\n\nif __name__ == "__main__":\n    {name}()\n'


def _package(value: Any) -> str:
    """Return the name of the package of a function, a class or a module."""
    name: str = value.__name__ if isinstance(value, ModuleType) else value.__module__
    return name.partition(".")[0]


class _Carrier:
    def __init__(self, given: Mapping[str, Any], packages: set[str]) -> None:
        self._given, self.packages = given, packages
        self._names: dict[int, str] = {}
        self._values: dict[str, Any] = {}
        self._imports: set[str] = set()
        self._constants: list[str] = []
        self._definitions: list[str] = []

    def text(self) -> str:
        """Return all that was carried."""
        definitions = [f"\n\n{each}" for each in self._definitions]
        return "\n".join([*sorted(self._imports), *definitions, "\n", *self._constants]) + "\n"

    def name_of(self, value: Any, wanted: str) -> str:
        """Return the name that a global value has in the file, and carry it if it is not there yet."""
        value = self._given.get(wanted, value)
        if isinstance(value, ModuleType):
            real = value.__name__
            self._imports.add(f"import {real}" + (f" as {wanted}" if real != wanted else ""))
            return wanted
        source = getattr(value, "py_func", value)
        is_defined = inspect.isfunction(source) or inspect.isclass(source)
        if is_defined and _package(source) not in self.packages:
            self._imports.add(f"from {source.__module__} import {source.__name__}")
            return str(source.__name__)
        if is_defined and id(source) in self._names:
            return self._names[id(source)]
        is_tuple = inspect.isclass(source) and issubclass(source, tuple)
        name = source.__name__ if is_defined else wanted
        while name in self._values and not (not is_defined and _is_same(self._values[name], value)):
            name += "_"
        if name in self._values:
            return name
        self._values[name] = value
        if is_tuple:
            self._names[id(source)] = name
            self._imports.add("from collections import namedtuple")
            self._constants.append(f"{name} = namedtuple({name!r}, {source._fields!r})")
        elif is_defined:
            self._names[id(source)] = name
            self._definitions.append(self._source_of(source, name))
        else:
            self._constants.append(f"{name} = {self._literal(value, name)}")
        return name

    def _source_of(self, value: Any, name: str) -> str:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(value))).body
        assert isinstance(tree, (ast.FunctionDef, ast.ClassDef))
        is_kernel = any(isinstance(each, ast.Name) and each.id == "jit" for each in tree.decorator_list)
        known = vars(sys.modules[value.__module__]) if inspect.isclass(value) else value.__globals__
        own = _Names(known, self, is_kernel=is_kernel, bound=_bound_names(tree)).visit(_Bare().visit(tree))
        own.name = name
        return ast.unparse(ast.fix_missing_locations(own))

    def _literal(self, value: Any, name: str) -> str:
        if isinstance(value, np.dtype) and value.names is not None:
            return repr(field_shapes(value))
        if isinstance(value, np.ndarray):
            return self._array(value.tolist())
        if isinstance(value, np.generic):
            return repr(value.item())
        if isinstance(value, tuple) and hasattr(value, "_asdict"):
            fields = ", ".join(f"{key}={self._literal(each, name)}" for key, each in value._asdict().items())
            return f"{self.name_of(Fields, 'Fields')}({fields})"
        if _is_plain(value):
            return repr(value)
        raise ValueError(f"{name} is {value!r}: plain Python has no such constant")

    def _array(self, values: Any) -> str:
        if not isinstance(values, list):
            return repr(values)
        return f"{self.name_of(Ints, 'Ints')}([{', '.join(map(self._array, values))}])"


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_is_plain(key) and _is_plain(each) for key, each in value.items())
    if isinstance(value, (tuple, list, set, frozenset)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (bool, int, str, bytes)) or (isinstance(value, float) and isfinite(value))


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return one is other
    return type(one) is type(other) and bool(one == other)


def _bound_names(tree: ast.AST) -> set[str]:
    """Return the names that a function or a class binds itself, those of its inner functions among them."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef):
            found |= {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
    return found


class _Bare(ast.NodeTransformer):
    """Removes annotations, docstrings and decorators other than those of properties and methods of classes."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Leave the arguments and the body."""
        self._bare_body(node)
        node.returns = None
        node.decorator_list = [each for each in node.decorator_list if isinstance(each, ast.Name) and each.id != "jit"]
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Leave the bases and the body."""
        self._bare_body(node)
        node.decorator_list = []
        return self.generic_visit(node)

    def _bare_body(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        is_text = [isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) for each in node.body]
        node.body = [each for each, drop in zip(node.body, is_text, strict=True) if not drop] or [ast.Pass()]

    def visit_arg(self, node: ast.arg) -> ast.AST:
        """Leave the name."""
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        """Leave the value, if there is one."""
        if node.value is None:
            return None
        return self.generic_visit(ast.Assign([node.target], node.value))


class _Names(ast.NodeTransformer):
    """Replaces global names by those in the file, and in kernels what is done with arrays."""

    def __init__(self, known: Mapping[str, Any], carrier: _Carrier, *, is_kernel: bool, bound: set[str]) -> None:
        self._known, self._carrier, self._is_kernel, self._bound = known, carrier, is_kernel, bound

    def _value(self, node: ast.AST) -> Any:
        """Return the value of a global name or of a name of a global module; None for others."""
        if isinstance(node, ast.Name) and node.id not in self._bound:
            return self._known.get(node.id)
        if isinstance(node, ast.Attribute) and isinstance(inner := self._value(node.value), ModuleType):
            return getattr(inner, node.attr, None)
        return None

    def _named(self, value: Any, wanted: str) -> ast.expr:
        name = self._carrier.name_of(value, wanted)
        if name in self._bound:
            raise ValueError(f"a local name hides {name}: choose another one")
        return ast.Name(name, ast.Load())

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Name what a global name stands for."""
        if not isinstance(node.ctx, ast.Load) or node.id in self._bound or node.id.startswith("__"):
            return node
        if node.id in self._known:
            return self._named(self._known[node.id], node.id)
        if not hasattr(builtins, node.id):
            raise ValueError(f"the name {node.id} is not known")
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Name what a module of this project has."""
        module = self._value(node.value)
        if self._is_kernel and module is np and node.attr in _NUMBERS:
            return ast.Name("float" if node.attr.startswith("float") else "int", ast.Load())
        if isinstance(module, ModuleType) and _package(module) in self._carrier.packages:
            return self._named(getattr(module, node.attr), node.attr)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Make arrays and integers of numpy those of plain Python, in kernels."""
        if not (self._is_kernel and isinstance(node.func, ast.Attribute) and self._value(node.func.value) is np):
            return self.generic_visit(node)
        name, given = node.func.attr, node.args
        if name in _NUMBERS:
            return self.generic_visit(node)
        dtype = self._value(given[-1]) if len(given) > 1 else None
        if name in ("zeros", "empty") and isinstance(dtype, np.dtype) and dtype.names is not None:
            return self._call(new_records, *given)
        if name in ("zeros", "empty"):
            return self._call(zeros, given[0])
        if name == "full":
            return self._call(full, *given[:2])
        if name == "arange":
            return self._call(arange, *given)
        raise ValueError(f"np.{name} in a kernel has no counterpart in plain Python")

    def _call(self, function: Any, *given: ast.expr) -> ast.AST:
        return self._new_call(function, *(self.visit(each) for each in given))

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Make one step of each index and copy parts of arrays, in kernels."""
        self.generic_visit(node)
        if not self._is_kernel:
            return node
        if isinstance(node.ctx, ast.Load) and _has_slices(node):
            return self._new_call(take_part, node.value, *_indices(node))
        *outer, last = _indices(node) if not _has_slices(node) else [node.slice]
        whole: ast.expr = node.value
        for index in outer:
            whole = ast.Subscript(whole, index, ast.Load())
        return ast.Subscript(whole, last, node.ctx)

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Fill parts of arrays, in kernels."""
        self.generic_visit(node)
        if not self._is_kernel:
            return node
        if isinstance(node.targets[0], ast.Subscript) and isinstance(node.value, ast.Subscript):
            node.value = self._new_call(copied, node.value)  # perhaps a row
        if not any(map(_has_slices, node.targets)):
            return node
        lines: list[ast.stmt] = []
        value = node.value
        if len(node.targets) > 1:
            lines.append(ast.Assign([ast.Name("value_", ast.Store())], value))
            value = ast.Name("value_", ast.Load())
        for target in node.targets:
            lines.append(self._filled(fill_part, target, value) if _has_slices(target) else ast.Assign([target], value))
        return lines

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """Add to parts of arrays, in kernels."""
        self.generic_visit(node)
        if not self._is_kernel or not _has_slices(node.target):
            return node
        if not isinstance(node.op, ast.Add):
            raise ValueError(f"{ast.unparse(node)}: plain Python can only add to parts of arrays")
        return self._filled(add_to_part, node.target, node.value)

    def _filled(self, function: Any, target: ast.AST, value: ast.expr) -> ast.stmt:
        assert isinstance(target, ast.Subscript)
        return ast.Expr(self._new_call(function, value, _read(target.value), *_indices(target)))

    def _new_call(self, function: Any, *given: ast.expr) -> ast.expr:
        return ast.Call(self._named(function, function.__name__), list(given), [])


def _has_slices(node: ast.AST) -> bool:
    """Tell whether a part of an array is meant, not an element."""
    return isinstance(node, ast.Subscript) and any(isinstance(each, ast.Slice) for each in _listed(node.slice))


def _listed(index: ast.expr) -> list[ast.expr]:
    return index.elts if isinstance(index, ast.Tuple) else [index]


def _indices(node: ast.Subscript) -> list[ast.expr]:
    """Return the index of each dimension as an expression."""
    return [
        ast.Call(
            ast.Name("slice", ast.Load()),
            [end or ast.Constant(None) for end in (each.lower, each.upper, each.step)],
            [],
        )
        if isinstance(each, ast.Slice)
        else each
        for each in _listed(node.slice)
    ]


def _read(node: ast.expr) -> ast.expr:
    """Return an expression as one that is read."""
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        node.ctx = ast.Load()
    return node
