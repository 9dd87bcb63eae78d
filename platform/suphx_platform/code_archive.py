"""The code of this project in one file, for places where the project is not installed: bots and models of MLflow."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Mapping
from importlib.metadata import distribution, version
from pathlib import Path
from typing import TypeAlias

import suphx
import suphx_platform

Contents: TypeAlias = Mapping[str, bytes | Path]
"""By name in the archive: bytes, or the file that has them."""
_DATE = (1980, 1, 1, 0, 0, 0)  # so that equal contents give equal archives
_SUFFIXES = (".py", ".pyi", ".typed")


def code_files() -> dict[str, Path]:
    """Return name in an archive -> file, of the library and the platform, from a checkout or an installation."""
    found: dict[str, Path] = {}
    for package in (suphx, suphx_platform):
        folder = Path(str(package.__file__)).parent
        code = [path for path in folder.rglob("*") if path.suffix in _SUFFIXES and path.is_file()]
        found |= {f"{folder.name}/{path.relative_to(folder).as_posix()}": path for path in code}
    return found


def pinned(names: tuple[str, ...]) -> list[str]:
    """Return a line of requirements.txt for each package: the version that is installed here, for any device."""
    return [f"{name}=={version(name).partition('+')[0]}" for name in names]


def write_zip(path: Path, files: Contents) -> None:
    """Write an archive whose bytes depend only on the contents."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content.read_bytes() if isinstance(content, Path) else content)


def write_wheel(folder: Path) -> Path:
    """Write the code of ``code_files`` as a wheel into ``folder``; return its path.

    The wheel has the name, version and metadata of the installed project, without its commands.
    """
    name = f"suphx-{version('suphx')}"
    files: dict[str, bytes | Path] = dict(code_files())
    files |= {
        f"{name}.dist-info/METADATA": (distribution("suphx").read_text("METADATA") or "").encode(),
        f"{name}.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: suphx\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = f"{name}.dist-info/RECORD"
    lines = [_record_line(each, content) for each, content in sorted(files.items())]
    files[record] = "".join([*lines, f"{record},,\n"]).encode()
    path = folder / f"{name}-py3-none-any.whl"
    write_zip(path, files)
    return path


def _record_line(name: str, content: bytes | Path) -> str:
    data = content.read_bytes() if isinstance(content, Path) else content
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"
