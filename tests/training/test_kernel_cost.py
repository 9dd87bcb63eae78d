from __future__ import annotations

from importlib import import_module

from suphx.training.kernel_cost import kernel_costs
from suphx.training.warmup import KERNEL_GROUPS

REMEDY = "python -m tests.training.kernel_cost_table measures the table again"


def test_every_row_is_a_kernel_that_some_group_needs() -> None:
    rows = kernel_costs()
    assert len(rows) > 300
    for row in rows:
        module, _, name = row.name.rpartition(".")
        assert callable(getattr(import_module(module), name, None)), f"{row.name} is gone: {REMEDY}"
        assert row.seconds > 0
        assert row.groups
        assert set(row.groups) <= set(KERNEL_GROUPS), REMEDY


def test_every_group_has_rows() -> None:
    assert {group for row in kernel_costs() for group in row.groups} == set(KERNEL_GROUPS), REMEDY
