"""The parts of bytes that pass by: of a file that is sent, so that the manifest names the very bytes, or read back."""

from __future__ import annotations

import hashlib
from typing import BinaryIO

from suphx_platform.storage.objects.object_store import PART_BYTES, Part


class HashedBytes:
    """Consumes: bytes in order, as a file that is written. Produces: their parts; the bytes are forgotten."""

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._digest, self._size = hashlib.sha256(), 0

    def write(self, data: bytes) -> None:
        """Take the next bytes."""
        rest = memoryview(data)
        while rest:
            piece = rest[: PART_BYTES - self._size]
            self._digest.update(piece)
            self._size += len(piece)
            rest = rest[len(piece) :]
            if self._size == PART_BYTES:
                self._end_part()

    def parts(self) -> list[Part]:
        """Return the parts of the bytes so far, the last one perhaps shorter; to be called once."""
        if self._size:
            self._end_part()
        return self._parts

    def _end_part(self) -> None:
        self._parts.append((self._size, self._digest.hexdigest()))
        self._digest, self._size = hashlib.sha256(), 0


class HashedFile(HashedBytes):
    """Consumes: a file, once, from its beginning. Produces: its bytes, and their parts.

    boto3's transfer manager reads it in order, in one thread, and keeps what it may have to send again.
    """

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, ``size`` unless the file ends before."""
        data = self._file.read(size)
        self.write(data)
        return data
