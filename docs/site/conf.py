"""Sphinx's settings of the documentation site: `make docs` builds it from the Markdown pages of this repository."""

from __future__ import annotations

import re
import shutil
from importlib.metadata import version as installed_version
from pathlib import Path

from sphinx.application import Sphinx

REPOSITORY = Path(__file__).resolve().parents[2]
PICTURES = Path("docs/pictures")

project = "Suphx platform"
author = "The Suphx platform developers"
version = release = installed_version("suphx")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
root_doc = "docs/site/index"
include_patterns = [
    "*.md",
    "docs/**",
    "benchmarks/*/README.md",
    "examples/*/README.md",
    "helm/suphx/README.md",
    "infra/*/README.md",
    "k8s/README.md",
]
exclude_patterns = ["docs/site/conf.py"]

myst_heading_anchors = 4  # links such as page.md#heading, as they work on code hosts
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True  # signatures as they are written
python_maximum_signature_line_length = 100

html_theme = "furo"
html_title = project
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
copybutton_exclude = ".linenos, .gp, .go"


def finish_site(app: Sphinx, error: Exception | None) -> None:
    """Copy the pictures of `<picture>` elements, which Sphinx does not see, and write `index.html`."""
    if error is None:
        shutil.copytree(REPOSITORY / PICTURES, app.outdir / PICTURES, dirs_exist_ok=True)
        first = f'<meta http-equiv="refresh" content="0; url={root_doc}.html">'
        (app.outdir / "index.html").write_text(f"<!doctype html><title>{project}</title>{first}\n", encoding="utf-8")


def simplify_factories(*event: object) -> tuple[str, object] | None:
    """Write defaults that are made again each time as `...`: Sphinx cannot read a signature with `<factory>`."""
    signature, returned = event[-2:]
    if "<factory>" not in str(signature):
        return None
    return re.sub(r"~suphx[\w.]*\.(\w+)", r"\1", str(signature).replace("<factory>", "...")), returned


def link_folders(app: Sphinx, name: str, text: list[str]) -> None:
    """Replace links to folders, which a site cannot show, by the folder's path."""
    page = (REPOSITORY / f"{name}.md").parent

    def path_of(match: re.Match[str]) -> str:
        target = (page / match[2]).resolve()
        return f"{match[1]} (`{target.relative_to(REPOSITORY)}`)" if target.is_dir() else match[0]

    text[0] = re.sub(r"\[([^]]+)\]\(([^):#]+)\)", path_of, text[0])


def setup(app: Sphinx) -> None:
    """Connect the steps above to the build."""
    app.connect("autodoc-process-signature", simplify_factories)
    app.connect("source-read", link_folders)
    app.connect("build-finished", finish_site)
