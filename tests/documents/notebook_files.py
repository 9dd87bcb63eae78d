"""Write the notebooks as ``.ipynb`` files, which code hosts show: ``python -m tests.documents.notebook_files``.

The Python files with cells are what is edited, compared and tested; these files follow from them, without outputs.
"""

from __future__ import annotations

import sys
from pathlib import Path

import jupytext

from suphx.atomic_file import write_atomically
from tests.repository import REPOSITORY

NOTEBOOKS = REPOSITORY / "examples" / "notebooks"
_FORM = {"extension": ".py", "format_name": "percent"}
_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def notebook_text(cells: str) -> str:
    """Return the notebook of a Python file with cells: equal texts give equal notebooks."""
    notebook = jupytext.reads(cells, fmt=_FORM)
    notebook.metadata = {"kernelspec": _KERNEL, "language_info": {"name": "python"}}
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"  # jupytext draws random ones
    return str(jupytext.writes(notebook, fmt="ipynb")) + "\n"


def notebook_path(path: Path) -> Path:
    """Return the file for the notebook of a Python file with cells."""
    return path.with_suffix(".ipynb")


def main() -> int:
    """Write all notebooks; return the exit code."""
    for path in sorted(NOTEBOOKS.glob("*.py")):
        target = notebook_path(path)
        write_atomically(target, [notebook_text(path.read_text(encoding="utf-8")).encode()])
        print(target.relative_to(REPOSITORY))
    return 0


if __name__ == "__main__":
    sys.exit(main())
