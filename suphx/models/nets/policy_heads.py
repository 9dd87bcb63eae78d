"""The heads of the policy nets, one for each kind of decision of the game that they play, by number and by name.

What is above the nets takes heads from here, so that it does not depend on the game (imports no torch).
"""

from suphx.games.riichi import (
    HEAD_NAMES as HEAD_NAMES,
)
from suphx.games.riichi import (
    check_heads as check_heads,
)
from suphx.games.riichi import (
    head_index as head_index,
)
