"""The settings of a match, and how many games it must have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from suphx.models.net_config import ActionSelection
from suphx.number_range import Processes, Range, check_ranges

SEATS = 4
Seating = Literal["1v3", "2v2", "3v1"]
"""Candidates against opponents at a table (measures.py)."""
SeatingChoice = Literal["1v3", "2v2", "3v1", "all"]
"""One seating, or all of them one after the other."""
PHOENIX_POINTS = (90, 45, 0, -135)
"""Of a hanchan in Tenhou's phoenix room for a player of 7 dan, first to fourth place."""

KEPT_FOLDER = ".match"
"""What a match that is being played keeps in the folder of its records."""

MIN_CLUSTERS = 6
"""Fewer lie all on one side of zero by chance in more than 5 of 100 cases: they cannot say who is better."""

MAX_HANCHANS = 10_000_000
"""Of a match: a day or more on 16 cores, even between scripted agents."""
HANCHANS = Range(2 * SEATS, MAX_HANCHANS)
HANCHANS_OR_NONE = Range(0, MAX_HANCHANS)

MAX_SIDE_DECKS = 1 << 17
"""Of a match of a tournament in a game of two sides: the decks of another night have other seeds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchConfig:
    """Match of the agent that a run has trained."""

    hanchans: Annotated[int, HANCHANS] = 1000
    """Games of the candidate, a multiple of 4; each wall is played four times."""
    opponent: str = "ukeire"
    """Opponent at the three other seats: a scripted agent of the game (``suphx agents`` lists them), or the path of
    a folder of checkpoints."""
    action_selection: ActionSelection = "probable"
    """How the riichi, chow, pong and kong nets decide between yes and no (docs/agents.md); sampled: discards are drawn
    too."""
    draw_lanes: bool = True
    """Whether each seat draws from its own positions of the wall, so fewer games are needed (docs/evaluation.md)."""
    workers: Processes = 2
    """Processes that play; the result does not depend on it."""
    on_ray: bool = False
    """Play on a Ray cluster, where each of the ``workers`` takes a CPU: that of ``RAY_ADDRESS``, otherwise a new one on
    this machine."""

    def __post_init__(self) -> None:
        check_ranges(self)
        check_hanchans(self.hanchans)
        if self.action_selection not in get_args(ActionSelection):
            raise ValueError(
                f"action_selection is {self.action_selection!r}: use one of {', '.join(get_args(ActionSelection))}"
            )


def chosen_seatings(choice: SeatingChoice) -> tuple[Seating, ...]:
    """Return the seatings of a choice; the first decides where only one can."""
    return get_args(Seating) if choice == "all" else (choice,)


MIN_DEALS = 20
"""Paired deals: about those of two hanchans, without which there is no interval."""


def few_games_note(hanchans: int, games: str = "hanchans", per_wall: int = SEATS) -> str:
    """Return what is to be said behind an interval of a match of so few games; empty where there are enough."""
    if hanchans >= per_wall * MIN_CLUSTERS:
        return ""
    least = per_wall * MIN_CLUSTERS
    return f"; over {hanchans // per_wall} walls the interval means little, play at least {least} {games}"


def check_side_deals(number: int) -> None:
    """Raise ValueError for a number of deals of a game of two sides that has no interval."""
    if number < 2:
        raise ValueError(f"{number} deals have no interval: play at least 2")


def widened_note(is_widened: bool, unit: str = "walls") -> str:
    """Return what is to be said behind an interval that ``reaching`` has extended (statistics.py); else empty."""
    if not is_widened:
        return ""
    return f"; the interval was widened to include no difference, because fewer than {MIN_CLUSTERS} {unit} differ"


def check_hanchans(number: int) -> None:
    """Raise ValueError for a number of games that no match can have."""
    if number not in HANCHANS or number % SEATS:
        raise ValueError(f"{number} hanchans: use a multiple of {SEATS} (the seats), {HANCHANS}")
