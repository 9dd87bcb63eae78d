"""What the options --encoder and --size of several commands allow."""

from __future__ import annotations

from typing import get_args

from suphx.models.nets.net_config import Size

# As features/encoder.py defines them, which takes seconds to import; a test compares the two.
ENCODERS = ("mini", "suphx", "suphx-plain")
SIZES = get_args(Size)
