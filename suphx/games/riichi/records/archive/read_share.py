"""How much of the record files has been read, for whoever shows progress."""

from __future__ import annotations

from suphx.games.riichi.records.archive.record_stream import ByteSource


class ReadShare:
    """Consumes: sizes and reads of files (``iter_texts``). Produces: the share of their bytes that was read.

    >>> read = ReadShare()
    >>> for log in parse_all([folder], 8, quarantine=quarantine, read=read):
    ...     print(f"{read.share:.0%}")
    """

    def __init__(self) -> None:
        self._total = 0
        self._done = 0
        self._in_file = 0

    @property
    def share(self) -> float:
        """From 0 to 1; 0 before anything is known."""
        return min(1.0, (self._done + self._in_file) / self._total) if self._total else 0.0

    def expect(self, num_bytes: int) -> None:
        """Add the size of files that will be read."""
        self._total += num_bytes

    def finish_file(self, num_bytes: int) -> None:
        """Count a file of this size as read, however much of it was."""
        self._done += num_bytes
        self._in_file = 0

    def counted(self, file: ByteSource) -> ByteSource:
        """Return ``file`` as a source whose reads are counted."""
        return _CountedFile(file, self)

    def add(self, num_bytes: int) -> None:
        """Count bytes of the file that is being read."""
        self._in_file += num_bytes


class _CountedFile:
    def __init__(self, file: ByteSource, read: ReadShare) -> None:
        self._file = file
        self._read = read

    def read(self, size: int, /) -> bytes:
        data = self._file.read(size)
        self._read.add(len(data))
        return data
