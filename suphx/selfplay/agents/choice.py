"""Names that settings choose from: the scripted agents, and how a net's probability becomes an action."""

from __future__ import annotations

from typing import Literal

SCRIPTED_AGENTS = ("random", "tsumogiri", "ukeire")
"""The position of a name is its number in ``choose_scripted`` (games/riichi/bots.py)."""

ActionSelection = Literal["probable", "matched", "sampled"]
"""How a net's probability of yes becomes an action: yes above one half; yes above the threshold that makes yes as
frequent as in the records; yes as often as the probability says. A ``sampled`` agent draws its discards too."""
