"""How a run is asked from outside to stop after it has saved: a file appears.

On a cluster the file is a key of the ConfigMap that is mounted beside the recipe: `suphx stop` writes it, and reads the
driver's answer in its log. Nothing has to reach into a pod for that.
"""

from __future__ import annotations

from pathlib import Path

STORED = "stopped as asked for, and stored"
"""The line that says that everything is safe."""


class StopRequestedError(Exception):
    """The run was asked to stop, and what it had done is saved."""


class StopSign:
    """Consumes: a file that may appear. Produces: the wish to stop. Waits for: nothing.

    >>> sign = StopSign(Path("/recipes/stop"))
    >>> sign.is_up
    False
    """

    def __init__(self, file: Path | None) -> None:
        """``file``: None if nobody will ask."""
        self._file = file

    @property
    def is_up(self) -> bool:
        """Tell whether the run is to stop."""
        return self._file is not None and self._file.exists()
