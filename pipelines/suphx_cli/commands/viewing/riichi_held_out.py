"""``--held-out`` and ``--trained-in``: whether the nets of a review have learned from the games that it shows."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from suphx.selfplay.agents.checkpoint_folder import split_address
from suphx.selfplay.agents.choice import SCRIPTED_AGENTS
from suphx_cli.arguments.usage_error import UsageError

if TYPE_CHECKING:
    from suphx.games.riichi import GameLog
    from suphx_pipelines.review.training_games import TrainingGames


@dataclass(frozen=True, slots=True)
class HeldOut:
    """How many of the reviewed games the agent has not learned from, as far as that is known."""

    games: int
    run: str | None
    """The run whose records are known; None for a scripted agent, which has learned from no game."""
    held_out: int | None
    """None if it is not known."""
    from_test: int = 0
    """Those of ``held_out`` that the run kept for its test. It has never had the others."""

    @property
    def is_clean(self) -> bool:
        """Whether all games are known to be held out."""
        return self.held_out == self.games

    def sentence(self) -> str:
        """Return what the report says of it."""
        if self.held_out is None:
            return (
                "It is not known whether the nets have learned from these games. If they have, the agreement is higher "
                "than on new games."
            )
        if self.run is None:
            return "The agent has learned from no records."
        text = f"{self.held_out:,} of {self.games:,} games are held out: the run {self.run} has not learned from them"
        text += f" ({self.from_test:,} of them are its test games)."
        return text if self.is_clean else f"{text} On the others the agreement is higher than on new games."

    def to_json(self) -> dict[str, object]:
        """Return the keys that scripts read."""
        return {"run": self.run, "games": self.held_out, "test_games": self.from_test}


def add_held_out(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--held-out",
        action="store_true",
        help="take only games that the run of the nets has not learned from: its test games, and games that were not "
        "among its records. A game is recognised by its id",
    )
    parser.add_argument(
        "--trained-in",
        metavar="RUN",
        help="the run that trained the nets, an id or a folder (default: the run whose folder has them)",
    )


def training_games(args: argparse.Namespace) -> tuple[str | None, TrainingGames | None]:
    """Return the run of the agent, and which games it learned from; (None, None) if that is not known.

    ValueError if ``--held-out`` or ``--trained-in`` asks for what is not known.
    """
    from suphx_pipelines.review.training_games import TrainingGames, games_of_run, run_of_nets
    from suphx_pipelines.runs.run_list import find_run

    location, _ = split_address(args.agent)
    if location in SCRIPTED_AGENTS:
        if args.trained_in is not None:
            raise UsageError(f"--trained-in has no meaning for {location}, which learns from no games: leave it out")
        return None, TrainingGames()
    if args.trained_in is not None:
        run: Path | None = find_run(args.runs, args.trained_in).folder
    else:
        run = run_of_nets(Path(location)) if Path(location).is_dir() else None
    if run is not None:
        try:
            return run.name, games_of_run(run)
        except ValueError as error:
            if args.held_out or args.trained_in is not None:
                raise ValueError(f"the games that {run} learned from are not known: {error}") from error
    elif args.held_out:
        raise ValueError(
            f"--held-out: {args.agent} is not in the folder of a run, so its training games are not known: name the "
            "run with --trained-in RUN"
        )
    return None, None


def count_held_out(logs: Sequence[GameLog], run: str | None, games: TrainingGames | None) -> HeldOut:
    """Return how many of the games are held out."""
    if games is None:
        return HeldOut(len(logs), None, None)
    held_out = [log.id for log in logs if games.is_held_out(log.id)]
    return HeldOut(len(logs), run, len(held_out), sum(each in games.test for each in held_out))
