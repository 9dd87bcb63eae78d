"""Archives of files in memory, with a folder and, in tar, a link among them."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Mapping
from itertools import cycle


def tar_of(contents: Mapping[str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    """Return a tar archive: a folder, files of these names, and a link."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form) as archive:
        folder = tarfile.TarInfo("x")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, data in contents.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        link = tarfile.TarInfo("link.mjlog")
        link.type, link.linkname = tarfile.SYMTYPE, "a.mjlog"
        archive.addfile(link)
    return file.getvalue()


def zip_of(contents: Mapping[str, bytes], *methods: int) -> bytes:
    """Return a zip archive: a folder, and files of these names, packed with the methods in turn."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("folder/", b"")
        for (name, data), method in zip(contents.items(), cycle(methods or (zipfile.ZIP_DEFLATED,)), strict=False):
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return file.getvalue()
