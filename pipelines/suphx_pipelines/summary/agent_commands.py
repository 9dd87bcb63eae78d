"""The commands for a person who wants to try the nets that a run made last."""

from __future__ import annotations

from pathlib import Path

from suphx.games.candidate_game import candidate_game
from suphx.games.registry import game_of_files
from suphx.selfplay.agents.checkpoint_folder import has_nets
from suphx_pipelines.recipe.agent_stages import AGENT_STAGES, MONTE_CARLO_STAGE, SUPERVISED_FOLDER
from suphx_pipelines.summary.run_places import nets_address
from suphx_pipelines.summary.run_summary import program_name

_DEFAULT_OPPONENT = "ukeire"


def agent_commands(folder: Path, storage: str = "") -> dict[str, list[str]]:
    """Return what it does -> the command, for the nets in a run's folder; empty if it has none that can play."""
    found = _last_nets(folder)
    if found is None:
        return {}
    nets, opponent = found
    program, agent = program_name(), nets_address(nets, folder, storage)
    if not agent:
        return {}
    return {
        "Play against its agent": [program, "play", "--agent", agent],
        "Play another match": [program, "evaluate", "--candidate", agent, "--opponent", opponent],
    }


def _last_nets(folder: Path) -> tuple[Path, str] | None:
    """Return the folder of the nets that the run made last, and a scripted agent to compare them with."""
    learned = folder / MONTE_CARLO_STAGE
    game = game_of_files(path.name for path in learned.iterdir()) if learned.is_dir() else None
    if game is not None:
        return learned, candidate_game(game).agents[-1]
    folders = (folder / name for name in (*AGENT_STAGES, SUPERVISED_FOLDER))
    nets = next((each for each in folders if has_nets(each)), None)
    return None if nets is None else (nets, _DEFAULT_OPPONENT)
