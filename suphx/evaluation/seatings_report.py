"""A match in one seating or in all three: one candidate, two or three at a table, on the same walls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from suphx.evaluation.match import MatchReport, play_match
from suphx.evaluation.match_config import SeatingChoice, chosen_seatings
from suphx.evaluation.workers.forfeits import Forfeits


@dataclass(frozen=True, slots=True)
class SeatingsReport:
    """The matches of a choice of seatings."""

    matches: tuple[MatchReport, ...]
    """At least one; of all three the first has one candidate against three baselines."""

    @property
    def forfeits(self) -> Forfeits:
        """Of all matches together."""
        return Forfeits.together(match.forfeits for match in self.matches)

    def verdict(self) -> str:
        """Return one sentence, which names the seatings if there are several."""
        if len(self.matches) == 1:
            return self.matches[0].verdict()
        return "; ".join(f"{match.seating}: {match.verdict()}" for match in self.matches)

    def to_json(self) -> dict[str, object]:
        """Return the keys of the first match, and in ``other_seatings`` those of the others."""
        first, *others = self.matches
        return first.to_json() | {"other_seatings": {match.seating: match.to_json() for match in others}}

    def renamed(self, candidate: str, baseline: str) -> SeatingsReport:
        """Return the same with other names of the agents."""
        return SeatingsReport(tuple(replace(match, candidate=candidate, baseline=baseline) for match in self.matches))


def play_seatings(candidate: str, baseline: str, choice: SeatingChoice, **how: Any) -> SeatingsReport:
    """Play a match of ``how`` (the arguments of ``play_match``) in each seating of ``choice``; errors as there."""
    return SeatingsReport(
        tuple(play_match(candidate, baseline, seating=seating, **how) for seating in chosen_seatings(choice))
    )
