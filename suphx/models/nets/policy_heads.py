"""The heads of the policy nets, by number and by name: riichi's, so that one place above the game names them.

Imports no torch.
"""

from suphx.games.riichi import HEAD_NAMES as HEAD_NAMES
from suphx.games.riichi import check_heads as check_heads
from suphx.games.riichi import head_index as head_index
