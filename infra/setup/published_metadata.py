"""Hatchling's hook: the README and the links of a published package, made from the address in ``SUPHX_REPOSITORY``.

A package index shows the README without the repository around it. With ``SUPHX_REPOSITORY=https://HOST/OWNER/NAME``,
links and pictures become absolute and point to the tag of the version; without it, they stay as they are.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<before>\]\()(?P<path>[\w.][^):\s]*)(?=\))")
_PICTURE = re.compile(r'(?P<before>\b(?:src|srcset)=")(?P<path>[\w.][^":\s]*)(?=")')


def absolute_links(readme: str, repository: str, version: str) -> str:
    """Return ``readme`` with its relative links and pictures as addresses of the tag ``v``VERSION of ``repository``."""
    readme = _PICTURE.sub(rf"\g<before>{repository}/raw/v{version}/\g<path>", readme)
    return _LINK.sub(rf"\g<before>{repository}/blob/v{version}/\g<path>", readme)


class PublishedMetadata(MetadataHookInterface):
    """Sets ``readme`` and ``urls`` of the project."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add both to ``metadata``; raise ValueError for a ``SUPHX_REPOSITORY`` that is not an address."""
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        repository = os.environ.get("SUPHX_REPOSITORY", "").rstrip("/")
        metadata["urls"] = {}
        if repository:
            if not re.fullmatch(r"https?://[^\s/]+/\S+", repository):
                raise ValueError(f"SUPHX_REPOSITORY must be an address such as https://HOST/OWNER/NAME: {repository}")
            tree = f"{repository}/blob/v{metadata['version']}"
            readme = absolute_links(readme, repository, metadata["version"])
            metadata["urls"] = {
                "Repository": repository,
                "Documentation": f"{tree}/docs/first-hour.md",
                "Changelog": f"{tree}/CHANGELOG.md",
                "Issues": f"{repository}/issues",
            }
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}
