from __future__ import annotations

from suphx.training.warmup import KERNEL_GROUPS, kernel_modules, kernels_of, module_costs
from tests.training.kernel_cost_table import table

REMEDY = "edit the row in kernel_costs.csv, or measure all: python -m tests.training.kernel_cost_table"


def test_every_module_with_kernels_has_a_row() -> None:
    assert [row.module for row in module_costs()] == sorted(module for module, _ in kernel_modules()), REMEDY


def test_every_row_has_a_cost_and_known_groups() -> None:
    for row in module_costs():
        assert kernels_of(row.module), f"{row.module} has no kernel: {REMEDY}"
        assert row.seconds > 0
        assert set(row.groups) <= set(KERNEL_GROUPS), f"{row.module}: {REMEDY}"
    assert {group for row in module_costs() for group in row.groups} == set(KERNEL_GROUPS), REMEDY


def test_a_module_belongs_to_the_groups_that_need_half_of_it() -> None:
    needed = {"rules": ["game.step", "game.end"], "nets": ["game.step", "net.pad"], "later": ["game.end"]}
    lines = table(needed, {"game.step": 1.0, "game.end": 0.5, "net.pad": 0.25, "numba.sum": 3.0})
    assert lines == ["module,seconds,groups", "game,0.75,rules|nets", "net,0.25,nets"]
