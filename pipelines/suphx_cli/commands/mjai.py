"""``suphx mjai``: an agent that speaks the mjai protocol, so that other arenas can seat it."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from suphx_cli.arguments import UsageError, add_command, check_source_of_runs, local_agent
from suphx_platform.agents.agent_forms import AGENT_HELP, check_agent, is_program

if TYPE_CHECKING:
    from suphx_cli.arguments import Subparsers
    from suphx_platform.console.console import Console

TOKEN_VARIABLE = "SUPHX_MJAI_TOKEN"
_DEFAULT_PORT = 11600
_DEFAULT_ROOM = "default"
_DEFAULT_NAME = "suphx"
_PAGE = f"""
mjai: let other programs seat an agent: speak the mjai protocol

Play in another program's games. The command reads events of the mjai protocol from standard input, one JSON object or a
list of them per line, and answers every line with one JSON object on standard output: a legal move, or
{{"type":"none"}}. With --tcp or --websocket it connects to a server instead. {AGENT_HELP}

--agent AGENT             the agent that plays; not mjai:
[SEAT]                    the agent's seat, 0 to 3, for arenas whose start_game has no id and that show all hands
| --tcp HOST[:PORT][/ROOM]  play on an mjai server (default: port {_DEFAULT_PORT}, room {_DEFAULT_ROOM})
| --websocket URL         play on a WebSocket server as of RiichiLab (riichi.dev), which asks with request_action; the
                          token is read from ${TOKEN_VARIABLE}
--name NAME               the agent's name, for servers that ask for it (default: {_DEFAULT_NAME})
--meta                    add the probability of every legal move to each answer; only with nets
--runs

examples:
  suphx mjai --agent runs/RUN/supervised 2
  suphx mjai --agent ukeire --tcp localhost:11600/default --name Ukeire
  suphx mjai --agent runs/RUN/supervised --websocket wss://game.riichi.dev/ws/ranked
"""


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``mjai``."""
    types = {"seat": {"type": int, "choices": (0, 1, 2, 3)}, "tcp": {"type": tcp_address}}
    add_command(
        commands, options, _PAGE, execute, agent={"required": True}, websocket={"type": websocket_address}, **types
    )


def tcp_address(text: str) -> tuple[str, int, str]:
    """Return host, port and room of ``[mjsonp://]HOST[:PORT][/ROOM]``; ArgumentTypeError for anything else."""
    try:
        parts = urlsplit(text if "://" in text else f"mjsonp://{text}")
        port = parts.port or _DEFAULT_PORT
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not an address: {error}") from error
    if not parts.hostname or parts.scheme != "mjsonp":
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST, HOST:PORT or HOST:PORT/ROOM")
    return parts.hostname, port, parts.path.strip("/") or _DEFAULT_ROOM


def websocket_address(text: str) -> str:
    """Return an address of a WebSocket; ArgumentTypeError for anything else."""
    try:
        parts = urlsplit(text)
        is_address = parts.scheme in ("ws", "wss") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port or an IPv6 address that cannot be
        is_address = False
    if not is_address:
        raise argparse.ArgumentTypeError(f"{text!r} is not an address of a WebSocket: use wss://HOST/PATH")
    return text


def execute(args: argparse.Namespace, console: Console) -> None:
    """Play until the arena ends.

    ValueError for an unknown agent, a server out of reach or an impossible event, UsageError for options that are wrong
    or have no effect.
    """
    if is_program(args.agent):
        raise ValueError(f"{args.agent!r} is a program that speaks mjai itself: start it without suphx")
    check_agent(args.agent, "riichi")
    check_source_of_runs(args.runs)
    if args.name is not None and args.websocket is not None:
        raise UsageError("--name has no effect on --websocket, where the token names the agent: omit it")
    with console.activity("loading the agent"), local_agent(args.agent, args.runs, "riichi") as address:
        from suphx_platform.agents.agent_loading import load_any_agent
        from suphx_platform.agents.mjai import mjai_arena
        from suphx_platform.kernels.kernel_warmup import compile_kernels

        player = mjai_arena.MjaiPlayer(load_any_agent(address, "riichi"), args.seat, has_meta=args.meta)
    compile_kernels(console, "engine", "encoder", "scripted games", "net games")
    name = _DEFAULT_NAME if args.name is None else args.name
    if args.tcp is not None:
        host, port, room = args.tcp
        mjai_arena.play_on_tcp(player, host, port, name=name, room=room)
    elif args.websocket is not None:
        mjai_arena.play_on_websocket(player, args.websocket, os.environ.get(TOKEN_VARIABLE, ""))
    else:
        if sys.stdin is None or sys.__stdout__ is None:  # sys.stdout is for messages while a command runs
            raise ValueError("events come from the standard input and answers go to the standard output: one is closed")
        lines = mjai_arena.read_lines(sys.stdin.buffer)
        mjai_arena.play_lines(player, lines, sys.__stdout__, name=name, room=_DEFAULT_ROOM)
