"""All the ways to name an agent, and what can be checked of a name before torch is imported.

``mjai:COMMAND LINE`` is an external program; ``mjai-S:COMMAND LINE`` has S seconds for each move. ``adapt[-K]:AGENT``:
K is the number of rollouts in a kyoku.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from suphx.extras import need
from suphx.games.registry import DEFAULT_GAME, GAMES, about_agents, agent_names, decision_names, find_game
from suphx.selfplay.agents.checkpoint_folder import WORDS, checkpoint_names, find_nets, has_nets, split_address
from suphx.suggestion import did_you_mean
from suphx.training.config import AdaptationConfig
from suphx_platform.agents.mjai.programs import CommandLine, warn_without_sandbox
from suphx_platform.storage.storage_config import STORAGE_SCHEMES

AGENT_FORMS: tuple[tuple[str, str], ...] = (
    ("FOLDER", "the five nets in a folder, such as runs/RUN/supervised"),
    ("s3://BUCKET/PREFIX/RUN/STAGE", "the newest nets that a run has stored there"),
    (
        "models:/NAME@ALIAS",
        "nets in MLflow's model registry; models:/suphx@champion: the champion of riichi's tournament",
    ),
    ("models:/NAME/VERSION", "one version of them"),
    ("models:/m-ID", "the model of a run in MLflow, by its id"),
    ("NETS:weak", "any of these nets, as supervised learning saved them early"),
    ("NETS:matched", "riichi and calls as often as in the records"),
    ("NETS:sampled", "every action sampled from the calibrated probabilities"),
    ("adapt:NETS", "nets that adapt to each kyoku (run-time adaptation, pMCPA)"),
    ("adapt-K:NETS", "the same with K rollouts (default: 1,024)"),
    ("mjai:COMMAND LINE", "an external program that speaks mjai; mjai-S: allows it S seconds for each move"),
)
"""Each form of a name that is not that of a scripted agent, and the agent that it names."""
AGENT_HELP = (
    "AGENT is ukeire, tsumogiri, random, a folder of nets such as runs/RUN/supervised, or another name: `suphx agents` "
    "lists them."
)
"""The sentence about these names in the help of each command that takes one."""


def agent_rows() -> list[tuple[str, str]]:
    """Return the scripted agents of all games, the strongest of each game first, and ``AGENT_FORMS``."""
    abouts = {game: about_agents(game) for game in GAMES}
    rows: dict[str, str] = {}
    for own in abouts.values():
        for agent, about in reversed(own.items()):
            games = " or ".join(game for game in GAMES if agent in abouts[game])
            rows.setdefault(agent, f"scripted (--game {games}): {about}")
    return [*rows.items(), *AGENT_FORMS]


_MJAI = re.compile(r"mjai(?:-(?P<seconds>\d+(?:\.\d+)?))?:(?P<program>.*)", re.DOTALL)
ADAPT = re.compile(r"adapt(?:-(?P<rollouts>\d+))?:(?P<agent>.+)")
_ADAPT_TYPO = re.compile(r"adapt[^/:]*:")
_REMOTE = (*STORAGE_SCHEMES, "models:/")
_SHOWN = 8


def is_program(address: str) -> bool:
    """Tell whether the agent is an external program."""
    return _MJAI.fullmatch(address) is not None


def split_program(address: str) -> tuple[CommandLine, float | None]:
    """Return an external program (``is_program``), and its seconds for each move; None: the default."""
    match = _MJAI.fullmatch(address)
    assert match is not None, f"{address!r} is not a program"
    return CommandLine(match["program"]), float(match["seconds"]) if match["seconds"] else None


def split_wrapper(address: str) -> tuple[str, str]:
    """Return the prefix of an adapting agent, such as ``adapt-256:``, perhaps empty, and the address of the nets."""
    match = ADAPT.fullmatch(address)
    nets = address if match is None else match["agent"]
    return address.removesuffix(nets), nets


def adaptation_config(address: str) -> AdaptationConfig:
    """Return the settings of an adapting agent; ValueError for a number of rollouts that it cannot have."""
    match = ADAPT.fullmatch(address)
    assert match is not None, f"{address!r} does not adapt"
    if match["rollouts"] is None:
        return AdaptationConfig()
    try:
        return AdaptationConfig(num_rollouts=int(match["rollouts"]))
    except ValueError as error:
        raise ValueError(f"{address!r}: {error}") from None


def is_remote(address: str) -> bool:
    """Tell whether the nets are in a bucket or a model registry."""
    return address.startswith(_REMOTE)


def agent_files(address: str, game: str) -> list[Path]:
    """Return the files that decide how an agent plays: checkpoints, or those that the command of a program names.

    None of a scripted agent. ValueError if a checkpoint is missing.
    """
    if not is_program(address):
        return find_nets(split_wrapper(address)[1], game)
    program, _ = split_program(address)
    return command_files(program.command)


def command_files(command: str) -> list[Path]:
    """Return the files that a command line names."""
    return [path for word in shlex.split(command) if (path := Path(word)).is_file()]


def follows_whole_games(address: str) -> bool:
    """Tell whether the agent must see a game from its start: a program, or nets that adapt to each kyoku."""
    return is_program(address) or bool(split_wrapper(address)[0])


def check_mjai(address: str, game: str) -> None:
    """Raise ValueError for an agent that must see whole games of another game than riichi."""
    if follows_whole_games(address) and not find_game(game).has_mjai:
        raise ValueError(f"{address!r} plays {DEFAULT_GAME} only: use {', '.join(agent_names(game))} or nets")


def check_agent(address: str, game: str) -> None:
    """Raise ValueError if no agent can have this name, such as a mistyped scripted agent or a folder without nets.

    Warns if it is a command line that would run without a sandbox (``warn_without_sandbox``).
    Agents in buckets and registries are not looked up here. ModuleNotFoundError if the agent needs an extra.
    """
    check_mjai(address, game)
    if is_program(address):
        warn_without_sandbox()
        return
    wrapper, nets = split_wrapper(address)
    if wrapper:
        adaptation_config(address)
    elif _ADAPT_TYPO.match(address):
        raise ValueError(
            f"{address!r} is not an agent: use adapt:NETS, or adapt-K:NETS with K rollouts, such as "
            "adapt-256:runs/RUN/supervised"
        )
    location, _ = split_address(nets)
    if is_remote(location):
        need("torch", "boto3" if location.startswith(STORAGE_SCHEMES) else "mlflow")
        return
    if location in agent_names(game):
        if wrapper or nets != location:
            raise ValueError(
                f"{address!r} is not an agent, as {location} has no nets: use {location}, or a folder of checkpoints"
            )
        return
    check_nets(nets, game)
    need("torch")


def check_nets(address: str, game: str) -> None:
    """Raise ValueError unless ``address`` is a folder with a checkpoint for each head, perhaps with ``:weak``.

    Of the files only the headers are read, so that a damaged one is found before torch is imported.
    """
    from safetensors import SafetensorError, safe_open

    folder = Path(split_address(address)[0])
    if not folder.is_dir():
        raise ValueError(_missing(address, folder, game))
    # with one of them missing, load_agent names it
    if has_nets(folder, game=game) or has_nets(folder, is_weak=True, game=game):
        for path in sorted(folder.glob("*.safetensors")):
            try:
                with safe_open(path, framework="numpy"):
                    pass
            except SafetensorError as error:
                raise ValueError(f"{path} is damaged ({error}): copy the nets again, or name others") from error
        return
    inside = sorted(str(each) for pattern in ("*", "*/*") for each in folder.glob(pattern) if has_nets(each, game=game))
    if inside:
        shown = ", ".join(inside[:_SHOWN]) + (", …" if len(inside) > _SHOWN else "")
        raise ValueError(f"{address!r} is not itself a folder of checkpoints: name one of the folders in it, {shown}")
    other = next((each for each in GAMES if has_nets(folder, game=each)), None)
    if other is not None:
        raise ValueError(f"{address!r} has nets of {other}, and the game is {game}: name others, or --game {other}")
    raise ValueError(
        f"{address!r} has no checkpoints: name a folder with {checkpoint_names(game=game)[0]} and so on, such as "
        "runs/RUN/supervised of a finished run"
    )


def check_net_agent(address: str) -> None:
    """Raise ValueError unless ``address`` is an agent whose nets can be adapted: a folder of checkpoints."""
    if split_address(address)[0] in agent_names("riichi"):
        raise ValueError(f"{address!r} has no nets that could be adapted: name a folder of checkpoints")
    check_nets(address, "riichi")


def _missing(address: str, folder: Path, game: str) -> str:
    """Return the message for a folder that does not exist, which may have been meant as another kind of agent."""
    if "://" in address:
        return f"{address!r} is not an agent: use an address that begins with {' or '.join(_REMOTE)}, or a folder"
    location, colon, word = address.rpartition(":")
    if colon and Path(location).is_dir():
        hint = did_you_mean(word, WORDS) or f"use {', '.join(WORDS)}"
        return f"{address!r} is not an agent: {word!r} is not an option of nets: {hint}".rstrip()
    if len(folder.parts) < 2:
        near = [*agent_names(game), *(each.name for each in Path().iterdir() if each.is_dir())]
        nets = " or a folder of nets" if decision_names(game) else ""
        forms = f"use {', '.join(agent_names(game))}{nets}; `suphx agents` lists all names"
        return f"{address!r} is not an agent: {did_you_mean(address, near) or forms}".rstrip()
    missing = next(each for each in (*reversed(folder.parents), folder) if not each.exists())
    parent = missing.parent
    names = [each.name for each in parent.iterdir() if each.is_dir()] if parent.is_dir() else []
    hint = did_you_mean(missing.name, names) or "check the path; "
    where = f"there is no {missing.name!r} in {parent}"
    return f"{address!r} is not an agent: {where}: {hint}`suphx runs list` shows all runs"
