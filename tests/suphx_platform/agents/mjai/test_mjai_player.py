"""Our agents at the tables of others: the same games as asked directly, and legal in an outside arena."""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import pytest

from suphx.games.game import Agent
from suphx.games.riichi.records.mjai import write_mjai
from suphx.games.riichi.rules import Rules, tenhou, tonpuu
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.rollouts.rollout import play_games
from suphx_platform.agents.mjai.mjai_agent import MjaiAgent
from suphx_platform.agents.mjai.mjai_arena import MjaiPlayer
from suphx_platform.agents.mjai.programs import CommandLine, Event
from tests.selfplay.small_policy_set import save_random
from tests.suphx_platform.agents.mjai.arena_lines import TO_DISCARD
from tests.suphx_platform.agents.mjai.riichienv_arena import play_hanchan


class PlayerInThisProcess:
    """Stands where MjaiAgent starts a program; the agent's address is the program's command line."""

    has_answered = True

    def __init__(self, address: CommandLine, seat: int, move_seconds: float, start_seconds: float | None) -> None:
        self._player = MjaiPlayer(load_agent(address.command), seat)

    def send(self, events: list[Event]) -> None:
        self._player.see(events)

    def receive(self) -> Event:
        return self._player.answer()

    def refuse(self, reply: Event, reason: Exception) -> AssertionError:
        return AssertionError(f"{reply}: {reason}")

    def close(self) -> None:
        pass


def played(agent: Agent, name: str, num_games: int, rules: Rules) -> list[str]:
    """Return the records of games of an agent, at another seat each time, with three of the scripted agent ukeire."""
    seating = [[0 if seat == game % 4 else 1 for seat in range(4)] for game in range(num_games)]
    agents = [agent, load_agent("ukeire")]
    games = play_games(agents, np.array(seating), range(num_games), rules, names=[name, "ukeire"])
    return [write_mjai(game) for game in games]


@pytest.fixture(scope="module")
def nets(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(save_random(tmp_path_factory.mktemp("nets")))


@pytest.mark.parametrize("kind", ["ukeire", "nets"])
def test_what_an_agent_decides_does_not_depend_on_the_protocol(
    kind: str, nets: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = nets if kind == "nets" else kind
    direct = played(load_agent(address), kind, 4, tenhou())
    monkeypatch.setattr("suphx_platform.agents.mjai.programs.MjaiProgram", PlayerInThisProcess)
    monkeypatch.setattr("shutil.which", lambda program: program)
    assert played(MjaiAgent(kind, CommandLine(address)), kind, 4, tenhou()) == direct


def by_command(address: str) -> MjaiAgent:
    program = CommandLine(f"{sys.executable} -m suphx_cli.cli mjai --agent {address}")
    return MjaiAgent("mjai", program, move_seconds=120)


def test_the_command_plays_the_same_games_as_the_agent() -> None:
    assert played(by_command("ukeire"), "A", 2, tonpuu()) == played(load_agent("ukeire"), "A", 2, tonpuu())


@pytest.mark.parametrize("num_hanchans", [3, pytest.param(100, marks=pytest.mark.slow)])
def test_an_outside_arena_accepts_every_move(nets: str, num_hanchans: int) -> None:
    agents = [load_agent(address) for address in ("random", "ukeire", nets, f"{nets}:sampled")]
    moves: Counter[str] = Counter()
    for game in range(num_hanchans):
        seats = [MjaiPlayer(agents[(game + seat) % 4], seat if game % 2 else None) for seat in range(4)]
        moves += play_hanchan(seats, game)
    assert moves.total() > 200 * num_hanchans
    expected = {"none", "dahai", "reach", "chi", "pon", "hora"}
    assert set(moves) >= (expected if num_hanchans < 100 else expected | {"daiminkan", "ankan", "kakan"})


def test_meta_data_are_the_probabilities_of_the_legal_moves(nets: str) -> None:
    player = MjaiPlayer(load_agent(nets), 1, has_meta=True)
    player.see(TO_DISCARD)
    answer = player.answer()
    moves = answer.pop("meta")["moves"]
    assert moves[0]["move"] == answer
    assert sum(move["p"] for move in moves) == pytest.approx(1, abs=0.01)
