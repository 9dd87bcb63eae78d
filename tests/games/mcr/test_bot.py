"""The player for Botzone: it knows what its seat knows, plays what the agent plays, and its zip runs by itself."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from suphx.games.game import Agent
from suphx.games.mahjong.plain_net import load_nets
from suphx.games.mcr.bot import BOT, KEEP_RUNNING
from suphx.games.mcr.botzone import Referee, new_referee
from suphx.games.mcr.features import LAYOUT
from suphx.games.mcr.game import GAME
from suphx.games.mcr.learning import LEARNING
from suphx.games.mcr.names import AGENTS, DECISIONS
from suphx.games.mcr.record import record_of
from suphx.games.mcr.table import NO_SEAT, NUM_SEATS, OWN_TURN, Rules
from suphx.games.mcr.tables import McrTables
from suphx.models.checkpoint import CheckpointHeader, LayoutVersion, new_net, save_checkpoint
from suphx.models.net_config import NetConfig
from suphx.models.policy import ChannelNorm, PolicyNet
from suphx.selfplay.agents.agent import load_agent
from suphx_platform.agents.bot_archive import write_bot

SEEN = ("round_wind", "wall_left", "num_melds", "meld_type", "num_discards", "river", "is_taken", "shown")
ROUNDING_SHARE = 0.99
"""Of moves that are the same: a compiler rounds sums in another order, which may decide between equal moves."""
PYTHON = (os.path.realpath(sys.executable), "-S", "-I")
"""Without the packages of this project, those of the environment and the folder where it is started."""


class Loader:
    """Stands for the zip that a program is in."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._files = files

    def get_data(self, path: str) -> bytes:
        return self._files[Path(path).name]


class Program:
    """The program of a bot in this process."""

    def __init__(self, agent: str, checkpoints: Sequence[Path] = ()) -> None:
        files = BOT.files(agent, checkpoints)
        source = files.program["__main__.py"].decode()
        ast.parse(source, feature_version=(3, 6))
        loader = Loader({**files.program, **files.data})
        self.names: dict[str, Any] = {"__name__": "bot", "__file__": "bot.py", "__loader__": loader}
        exec(compile(source, "bot.py", "exec"), self.names)
        data = zlib.decompress(files.program["suits.bin"])
        self.suits = self.names["unpack_record"](data, self.names["_SUITS_FIELDS"])
        self.choose = self.names["with_nets" if checkpoints else "scripted"](self.suits)

    def player(self) -> Any:
        return self.names["Player"](self.suits, self.choose)


def referee_of(seed: int) -> Referee:
    tables = McrTables(1, Rules())
    tables.begin([0], [seed])
    return new_referee(record_of(tables.state[0], Rules()))


def check_view(player: Any, table: Any, seat: int) -> None:
    """Compare what a player knows before a decision with the whole table."""
    own = player.table
    for name in SEEN:
        assert np.array_equal(np.array(getattr(own, name)), table[name]), name
    assert (own.hand[seat], own.meld_kind[seat]) == (table["hand"][seat].tolist(), table["meld_kind"][seat].tolist())
    assert (own.turn, own.claimed) == (table["turn"], table["claimed"])
    if table["phase"] == OWN_TURN:
        assert (own.drawn, own.after_kong) == (table["drawn"], table["after_kong"])


def compared_games(program: Program, agent: Agent, seeds: range) -> Iterator[tuple[Any, list[bool]]]:
    """Play games of four players; at each decision, compare what they know with the table.

    Yield the ended table, and for each decision whether the agent, who gets the whole table, has the same move.
    """
    for seed in seeds:
        same: list[bool] = []
        referee, players = referee_of(seed), [program.player() for _ in range(NUM_SEATS)]
        while not referee.is_over:
            replies = []
            for seat, (player, request) in enumerate(zip(players, referee.requests(), strict=True)):
                player.read(request)
                if player.has_choice:
                    check_view(player, referee.table, seat)
                    if referee.table["actor"] == seat:
                        assert player.table.phase == referee.table["phase"]
                        assert list(map(int, player.table.legal)) == referee.table["legal"].tolist()
                        expected = agent.act(np.array([referee.table]), np.zeros(1, np.int64))[0]
                        same.append(program.choose(player.table.copy()) == expected)
                replies.append(player.reply())
            referee.answer(replies)
        assert referee.table["offender"] == NO_SEAT, replies
        yield referee.table, same


@pytest.mark.parametrize("agent", AGENTS[1:])
def test_a_player_knows_what_its_seat_knows_and_plays_what_the_agent_plays(agent: str) -> None:
    games = list(compared_games(Program(agent), GAME.scripted_agent(agent), range(2)))
    assert any(table["winner"] != NO_SEAT for table, _ in games)
    assert any(table["num_melds"].any() for table, _ in games)
    assert np.mean([each for _, same in games for each in same]) > ROUNDING_SHARE


def random_nets(folder: Path, encoder: str = LAYOUT.name, **values: Any) -> list[PolicyNet]:
    """Write nets of random weights; return them."""
    nets = []
    for kind in DECISIONS:
        layout = LEARNING.layout(encoder, kind.number)
        config = NetConfig(size="tiny", channels=32, num_blocks=2, **values)
        with torch.random.fork_rng():
            torch.manual_seed(kind.number)
            net = new_net(kind, layout, config)
            for module in net.modules():
                if isinstance(module, ChannelNorm):
                    assert module.running_mean is not None
                    assert module.running_var is not None
                    for tensor, low in ((module.running_mean, -0.1), (module.running_var, 0.5), (module.weight, 0.5)):
                        torch.nn.init.uniform_(tensor, low, low + 0.5)
        header = CheckpointHeader(
            kind=kind, layout=LayoutVersion.of(layout), rules=LEARNING.rules_version, net=net.config, step=1
        )
        folder.mkdir(exist_ok=True)
        save_checkpoint(folder / f"{kind.name}.safetensors", net, header)
        assert isinstance(net, PolicyNet)
        nets.append(net.eval())
    return nets


@pytest.mark.parametrize(
    "values", [{}, {"grid": "4x9", "choice_head": "connected"}, {"grid": "4x9", "normalization": "none"}]
)
def test_nets_without_torch_give_the_logits_of_the_checkpoints(values: dict[str, Any], tmp_path: Path) -> None:
    nets = random_nets(tmp_path / "nets", **values)
    paths = [tmp_path / "nets" / f"{kind.name}.safetensors" for kind in DECISIONS]
    rows = torch.randint(0, 256, (2, LAYOUT.observation_bytes), dtype=torch.uint8)
    (data,) = BOT.files("nets", paths).data.values()
    for net, plain in zip(nets, load_nets(data), strict=True):
        with torch.inference_mode():
            expected = net(rows).numpy()
        found = np.array([plain(row) for row in rows.numpy()])
        np.testing.assert_allclose(found, expected, atol=2e-3 * np.abs(expected).max())  # 16-bit weights


@pytest.mark.parametrize("encoder", ["gb237", "gb265"])
def test_a_player_with_nets_plays_what_the_agent_plays(encoder: str, tmp_path: Path) -> None:
    random_nets(tmp_path, encoder, grid="4x9", choice_head="connected")
    paths = [tmp_path / f"{kind.name}.safetensors" for kind in DECISIONS]
    ((_, same),) = compared_games(Program(str(tmp_path), paths), load_agent(str(tmp_path), game="mcr"), range(1))
    assert np.mean(same) > ROUNDING_SHARE


def test_nets_that_see_something_else_are_refused(tmp_path: Path) -> None:
    random_nets(tmp_path)
    path = tmp_path / "discard.safetensors"
    data = path.read_bytes()
    path.write_bytes(data.replace(b'"gb237', b'"gb238').replace(b'\\"gb237', b'\\"gb238'))
    with pytest.raises(ValueError, match="sees gb238 version 1: a bot shows it gb237 version 1 or gb265 version 1"):
        BOT.files("nets", [path, tmp_path / "claim.safetensors"])


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bot") / "bot.zip"
    write_bot("shanten", path, "mcr")
    return path


class Process:
    """The zip, kept running."""

    def __init__(self, archive: Path) -> None:
        self._process = subprocess.Popen(
            [*PYTHON, str(archive)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=archive.parent
        )

    def send(self, line: str) -> list[str]:
        """Return the reply and the marker line."""
        source, sink = self._process.stdout, self._process.stdin
        assert source is not None
        assert sink is not None
        print(line, file=sink, flush=True)
        return [source.readline().strip(), source.readline().strip()]

    def close(self) -> None:
        self._process.communicate()


def test_the_zip_needs_no_package_and_has_no_name_of_this_project(archive: Path) -> None:
    for name in ("numba", "torch", "numpy", "suphx"):
        found = subprocess.run([*PYTHON, "-c", f"import {name}"], capture_output=True, text=True, cwd=archive.parent)
        assert f"No module named '{name}'" in found.stderr
    with zipfile.ZipFile(archive) as files:
        assert sorted(files.namelist()) == ["__main__.py", "suits.bin"]
        assert "suphx" not in files.read("__main__.py").decode()


def test_processes_play_a_game_in_both_modes_and_reply_alike(archive: Path) -> None:
    referee, players = referee_of(11), [Process(archive) for _ in range(NUM_SEATS)]
    told: list[list[str]] = []
    replied: list[list[str]] = []
    while not referee.is_over:
        told.append(referee.requests())
        replies = []
        for player, request in zip(players, told[-1], strict=True):
            first = json.dumps({"requests": [request], "responses": []})
            reply, marker = player.send(first if len(told) == 1 else request)
            assert marker == KEEP_RUNNING
            replies.append(json.loads(reply)["response"])
        replied.append(replies)
        referee.answer(replies)
    for player in players:
        player.close()
    assert referee.table["offender"] == NO_SEAT
    chosen = [number for number, replies in enumerate(replied) if replies != ["PASS"] * NUM_SEATS]
    for number in chosen[::8]:
        seat = next(seat for seat in range(NUM_SEATS) if replied[number][seat] != "PASS")
        requests = [each[seat] for each in told[: number + 1]]
        responses = [each[seat] for each in replied[:number]]
        text = json.dumps({"requests": requests, "responses": responses})
        done = subprocess.run([*PYTHON, str(archive)], input=text + "\n", capture_output=True, text=True, check=True)
        assert done.stdout == json.dumps({"response": replied[number][seat]}) + "\n"


def test_the_simple_form_is_answered_in_the_simple_form(archive: Path) -> None:
    hand = "1 0 0 0 0 W1 W2 W3 W4 W5 W6 W7 W8 W9 F1 F1 F3 F4"
    lines = ["3", "0 1 2", "PASS", hand, "PASS", "2 F3"]
    done = subprocess.run([*PYTHON, str(archive)], input="\n".join(lines), capture_output=True, text=True, check=True)
    assert done.stdout == "PLAY F4\n"


@pytest.mark.slow
@pytest.mark.parametrize("agent", AGENTS[1:])
def test_no_player_is_punished_in_many_games(agent: str) -> None:
    games = compared_games(Program(agent), GAME.scripted_agent(agent), range(100, 200))
    assert np.mean([each for _, same in games for each in same]) > ROUNDING_SHARE
