"""Names of agents and runs as pictures write them: a path or a command line must leave room for the figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

LONGEST = 36
_GAP = "…"


def short_names(names: Sequence[str], longest: int = LONGEST) -> list[str]:
    """Return each name in at most ``longest`` letters, the middle left out, no two different names alike.

    Names that would read the same get a number in front.
    """
    short = {name: _elided(name, longest) for name in names}
    alike = Counter(short.values())
    seen: Counter[str] = Counter()
    for name, told in short.items():
        if alike[told] > 1:
            seen[told] += 1
            mark = f"({seen[told]}) "
            short[name] = mark + _elided(name, longest - len(mark))
    return [short[name] for name in names]


def _elided(name: str, longest: int) -> str:
    if len(name) <= longest:
        return name
    end = (longest - len(_GAP)) * 2 // 3  # ends of paths and command lines tell more than beginnings
    return name[: longest - len(_GAP) - end] + _GAP + name[-end:]
