"""Agents by address (agent_forms.py): scripted ones, nets in a folder, adapting ones and outside programs.

>>> load_any_agent("adapt-256:runs/a/supervised:weak", "riichi")

Nets in a bucket (``s3://…``) or in the model registry (``models:/…``) are copied first:

>>> source = AgentSource(MlflowStore(Path("runs")))
>>> with TemporaryDirectory() as space:
...     agent = load_side_agent("models:/doudizhu@champion", candidate_game("doudizhu"), Path(space), source)
...     agent.player
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suphx.evaluation.game_runner import LoadAgent
from suphx.extras import need
from suphx.games.game import Agent, CandidateGame
from suphx.games.registry import agent_names, candidate_game, find_decisions, has_candidates, load_game
from suphx.models.net_config import Precision
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.agents.checkpoint_folder import find_nets
from suphx_platform.agents.agent_forms import (
    ADAPT,
    adaptation_config,
    agent_files,
    check_mjai,
    check_net_agent,
    check_nets,
    command_files,
    follows_whole_games,
    is_program,
    split_program,
)
from suphx_platform.agents.agent_source import AgentSource
from suphx_platform.agents.mjai.mjai_agent import MjaiAgent
from suphx_platform.agents.mjai.programs import MOVE_SECONDS, warn_without_sandbox
from suphx_platform.agents.side_program import PROGRAM_DECKS, SideProgram, is_side_program

if TYPE_CHECKING:
    from suphx.selfplay.agents.net_agent import NetAgent


def load_any_agent(address: str, game: str, *, precision: Precision = "auto") -> Agent:
    """Return the agent that ``address`` names: a program, one that adapts, or any of ``load_agent``.

    ValueError if there is none of that name.
    """
    check_mjai(address, game)
    if is_program(address):
        program, seconds = split_program(address)
        return MjaiAgent(address, program, MOVE_SECONDS if seconds is None else seconds)
    if has_candidates(game) and is_side_program(address):
        return SideProgram(address, candidate_game(game))
    match = ADAPT.fullmatch(address)
    if match is not None:
        need("torch")
        from suphx.training.adaptation import Adapter, AdaptiveAgent

        config = adaptation_config(address)
        return AdaptiveAgent(address, Adapter(load_net_agent(match["agent"]), config))
    if address not in agent_names(game):
        check_nets(address, game)  # names what exists instead, all forms or the folders inside
    return load_agent(address, game=game, precision=precision)


def load_net_agent(address: str) -> NetAgent:
    """Return an agent of nets that sees what a player sees; ValueError for another one."""
    check_net_agent(address)
    need("torch")
    from suphx.selfplay.agents.net_agent import load_nets

    agent = load_nets(address)
    if agent.sees_hidden_tiles:
        raise ValueError(f"{address!r} needs the hidden tiles, which no player sees: use nets of another stage")
    return agent


@dataclass(frozen=True, slots=True)
class MatchAgents:
    """The two agents of a match, ready to be loaded wherever its games are played."""

    addresses: tuple[str, str]
    load: LoadAgent
    rules: Any | None
    """By which both can play; None: those of the game without options."""
    rules_values: dict[str, Any] | None
    files: tuple[Sequence[Path], Sequence[Path]]
    """Those that decide how each plays."""
    deals_per_task: int
    """At most, where games take minutes; 0: many."""


def match_agents(name: str, addresses: tuple[str, str], space: Path, source: AgentSource) -> MatchAgents:
    """Return the agents of a match of a game; nets that are elsewhere are copied into ``space``.

    ValueError if there is no agent at an address, or both learned rules with different moves.
    """
    folders = space / "candidate", space / "opponent"
    if find_decisions(name) and not has_candidates(name):
        own = source.fetch(addresses[0], folders[0], name), source.fetch(addresses[1], folders[1], name)
        files = agent_files(own[0], name), agent_files(own[1], name)
        size = 1 if any(map(follows_whole_games, own)) else 0
        return MatchAgents(own, partial(load_any_agent, game=name), None, None, files, size)
    game: Any = load_game(name)
    agents = [load_side_agent(each, game, folder, source) for each, folder in zip(addresses, folders, strict=True)]
    rules = common_rules(game, *agents)
    players = {"candidate": agents[0].player, "opponent": agents[1].player}
    return MatchAgents(
        ("candidate", "opponent"),
        players.__getitem__,
        rules,
        game.rules_values(rules),
        (agents[0].files, agents[1].files),
        PROGRAM_DECKS if any(map(is_side_program, addresses)) else 0,
    )


@dataclass(frozen=True, slots=True)
class SideAgent:
    """An agent that is ready to play."""

    address: str
    player: Agent
    rules: Any | None
    """The rules that its nets learned; None of another agent, which plays by any."""
    files: Sequence[Path]


def load_side_agent(address: str, game: CandidateGame, folder: Path, source: AgentSource) -> SideAgent:
    """Return the agent at ``address``; nets in a bucket or in the model registry are copied to ``folder``.

    ValueError if there is no agent of ``game``; the error says what is missing.
    """
    place = source.fetch(address, folder, game.name)
    player = load_any_agent(place, game.name)
    if isinstance(player, SideProgram):
        warn_without_sandbox()
        return SideAgent(address, player, None, command_files(player.command_line.command))
    return SideAgent(address, player, getattr(player, "rules", None), find_nets(place, game.name))


def common_rules(game: CandidateGame, *agents: SideAgent) -> Any:
    """Return the rules by which all ``agents`` can play; ValueError if their nets know different moves.

    Where the rules that nets have learned differ, those of the game without options are used.
    """
    learned = [agent for agent in agents if agent.rules is not None]
    if not learned:
        return game.new_rules({})
    if not have_same_moves(game, *(agent.rules for agent in learned)):
        names = " and ".join(agent.address for agent in learned)
        raise ValueError(f"{names} learned rules with different moves: they cannot play each other")
    values = [game.rules_values(agent.rules) for agent in learned]
    common = {name: value for name, value in values[0].items() if all(own.get(name) == value for own in values)}
    return game.new_rules(common)


def have_same_moves(game: CandidateGame, *rules: Any) -> bool:
    """Tell whether all ``rules`` of ``game`` have the same moves, so that a net of one knows those of the others."""
    return len({game.open_tables(1, each).num_moves for each in set(rules)}) <= 1
