"""The stage ``initial_agent``: the nets of an agent that exists already, in the place of supervised learning.

They are copied once: a run that is stopped and resumed continues with the same nets, although an alias of the model
registry or the newest version in a bucket may be another one by then.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from suphx.selfplay.agents import checkpoint_folder
from suphx.selfplay.agents.checkpoint_folder import WEAK, find_checkpoints, find_nets, split_address
from suphx.selfplay.agents.policy_set import load_policy_set
from suphx_pipelines.json_file import write_json
from suphx_pipelines.recipe.agent_stages import INITIAL_STAGE
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.runs.provenance import digest_file
from suphx_pipelines.runs.stage import Stage, StageContext
from suphx_platform.agents.agent_forms import is_remote
from suphx_platform.agents.agent_source import AgentSource
from suphx_platform.tracking.model_registry import MODEL_ADDRESS, VERSION_ADDRESS

SOURCE_FILE = "initial_agent.json"


def initial_agent_stage() -> Stage[Recipe]:
    """Return the stage."""
    return Stage(
        name=INITIAL_STAGE,
        run=run,
        recipe_keys=("encoder", "initial_agent"),
        artifacts=(SOURCE_FILE, "*.safetensors"),
        outside_files=own_nets,
        reads_newest=is_moving,
        check=check_agent,
    )


def own_nets(recipe: Recipe) -> list[Path]:
    """Return the checkpoints of an agent in a folder, none of one that is elsewhere; ValueError if one is missing."""
    return [] if is_remote(recipe.initial_agent) else find_nets(recipe.initial_agent, recipe.game_name)


def is_moving(recipe: Recipe) -> bool:
    """Tell whether the agent's address may stand for other nets tomorrow: not that of a folder, version or model."""
    location = split_address(recipe.initial_agent)[0]
    is_fixed = any(form.fullmatch(location) for form in (MODEL_ADDRESS, VERSION_ADDRESS))
    return is_remote(location) and not is_fixed


def check_agent(recipe: Recipe) -> None:
    """Raise ValueError if there is no folder with five nets, and for options that nets have only when they play."""
    location, words = split_address(recipe.initial_agent)
    if words - {WEAK}:
        raise ValueError(f"initial_agent is {recipe.initial_agent!r}: of the options after the colon, use only {WEAK}")
    try:
        nets = own_nets(recipe)
    except ValueError as error:
        raise ValueError(f"initial_agent: {error}") from error
    if not nets and not is_remote(location):
        raise ValueError(f"initial_agent is {location!r}, which has no nets: name a folder of checkpoints")


def run(context: StageContext[Recipe]) -> dict[str, float]:
    """Copy the nets of the agent that the run begins with; ValueError if nets of this run cannot follow them."""
    recipe = context.recipe
    source = AgentSource(context.tracker.store, recipe.storage)
    with context.console.activity("copying the initial nets"), TemporaryDirectory(prefix="suphx-agent-") as space:
        place, words = split_address(source.fetch(recipe.initial_agent, Path(space) / "agent", recipe.game_name))
        folder, game, is_weak = Path(place), recipe.game_name, WEAK in words
        try:
            nets = load_policy_set(folder, recipe.encoder, is_weak=is_weak, game=game).nets
            if any(getattr(net.config, "num_oracle_planes", 0) for net in nets):
                raise ValueError("its nets see hidden tiles, so nobody can play them")
        except ValueError as error:
            raise ValueError(f"initial_agent {recipe.initial_agent}: {error}") from error
        names = checkpoint_folder.checkpoint_names(game=game)
        pairs = list(zip(find_checkpoints(folder, is_weak=is_weak, game=game), names, strict=True))
        if not is_weak and checkpoint_folder.has_nets(folder, is_weak=True, game=game):
            weak = checkpoint_folder.checkpoint_names(is_weak=True, game=game)
            pairs += zip(find_checkpoints(folder, is_weak=True, game=game), weak, strict=True)
        copied = [Path(shutil.copy2(path, context.folder / name)) for path, name in pairs]
    values = {"agent": recipe.initial_agent, "nets": {path.name: digest_file(path) for path in copied}}
    stored = [version for found in source.stored.values() for version in found]
    write_json(context.folder / SOURCE_FILE, {**values, "stored": stored})
    return {"nets": len(copied)}
