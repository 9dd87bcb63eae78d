from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from suphx.experience.observation import Observations
from suphx.games.game import Agent
from suphx.games.registry import GAMES, agent_names, decision_names
from suphx.games.riichi.features.encoder import ENCODERS
from suphx.games.riichi.names import DECISIONS, HEAD_NAMES, PONG_HEAD, RIICHI_HEAD
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import RIICHI
from suphx.games.riichi.tables import ScriptedAgent
from suphx.kernel.record import Records
from suphx.models.checkpoint import CheckpointHeader, LayoutVersion, save_checkpoint
from suphx.models.net_config import ActionSelection, Calibration, NetConfig, checkpoint_name
from suphx.models.policy import PolicyNet
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.agents.checkpoint_folder import has_nets
from suphx.selfplay.agents.net_agent import LEARNED_HEADS, NetAgent, yes_no_actions
from suphx.selfplay.agents.policy_set import load_policy_set, save_policy_set

PLACES = np.random.default_rng(1).random(50_000, np.float32)


def logits_of(yes: np.ndarray) -> np.ndarray:
    return np.stack([np.zeros_like(yes), np.log(yes / (1 - yes))], axis=1).astype(np.float32)


@pytest.mark.parametrize(
    ("answers", "threshold", "says_yes"),
    [("probable", 0.2, [False, False, True]), ("matched", 0.2, [False, True, True]), ("matched", 0.9, [False] * 3)],
)
def test_yes_is_above_its_border(answers: ActionSelection, threshold: float, says_yes: list[bool]) -> None:
    yes = np.array([0.1, 0.3, 0.8])
    actions, scores = yes_no_actions(logits_of(yes), PLACES[:3], Calibration(yes_threshold=threshold), answers)
    assert (actions == 1).tolist() == (scores > 0.5).tolist() == says_yes
    assert np.all(np.diff(scores) > 0)
    assert scores.min() >= 0
    assert scores.max() <= 1


def test_without_a_threshold_the_score_is_the_probability_after_the_temperature() -> None:
    logits = np.array([[0.0, 2.0], [1.0, -1.0]], np.float32)
    _, scores = yes_no_actions(logits, PLACES[:2], Calibration(temperature=2.0), "probable")
    assert scores == pytest.approx([1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1))])


@pytest.mark.parametrize("chance", [0.03, 0.4, 0.9])
def test_sampled_answers_are_yes_as_often_as_the_probability_says(chance: float) -> None:
    actions, scores = yes_no_actions(logits_of(np.full(len(PLACES), chance)), PLACES, Calibration(), "sampled")
    assert actions.mean() == pytest.approx(chance, abs=0.01)
    np.testing.assert_allclose(scores, np.where(actions == 1, chance, 0), rtol=1e-5)


MINI = ENCODERS["mini"]
TINY = NetConfig(size="tiny")


def make_nets() -> list[PolicyNet]:
    torch.manual_seed(0)
    return [PolicyNet(DECISIONS[head], MINI.layout(head).num_planes, TINY).eval() for head in range(len(HEAD_NAMES))]


def save_nets(
    folder: Path, *, in_subfolders: bool = False, is_weak: bool = False, calibration: Calibration | None = None
) -> Path:
    for net in make_nets():
        name = HEAD_NAMES[net.kind.number]
        file = checkpoint_name(name, is_weak=is_weak)
        path = folder / name / file if in_subfolders else folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        planes = LayoutVersion.of(MINI.layout(net.kind.number))
        header = CheckpointHeader(
            kind=net.kind, layout=planes, rules="tenhou", net=net.config, step=1, calibration=calibration
        )
        save_checkpoint(path, net, header)
    return folder


def positions(agent: Agent, num_tables: int, num_steps: int) -> Iterator[tuple[Records, np.ndarray]]:
    """Yield waiting tables of games that ``agent`` plays."""
    simulator = Simulator(num_tables, tenhou())
    simulator.reset(range(num_tables))
    for _ in range(num_steps):
        waiting = simulator.waiting()
        actions = agent.act(simulator.tables, waiting)
        yield simulator.tables, actions
        simulator.advance(waiting, actions)


@pytest.mark.parametrize("name", [*agent_names("riichi"), "nets"])
def test_an_agent_answers_the_same_in_any_batch_and_changes_nothing_at_the_table(name: str) -> None:
    agent: Agent = NetAgent("nets", make_nets(), MINI.name) if name == "nets" else ScriptedAgent(name)
    for tables, actions in positions(agent, 8, 40 if name == "nets" else 150):
        before = tables.tobytes()
        single = [int(agent.act(tables, np.array([i]))[0]) for i in range(8)]
        assert single == actions.tolist()
        assert agent.act(tables, np.arange(7, -1, -1))[::-1].tolist() == actions.tolist()
        assert tables.tobytes() == before


@pytest.mark.parametrize("answers", ["matched", "sampled"])
def test_other_ways_to_answer_are_the_same_in_any_batch(tmp_path: Path, answers: str) -> None:
    save_nets(tmp_path, calibration=Calibration(temperature=50.0, yes_threshold=0.3))
    agent, plain = load_agent(f"{tmp_path}:{answers}"), load_agent(str(tmp_path))
    differ = 0
    for tables, actions in positions(agent, 8, 40):
        single = [int(agent.act(tables, np.array([i]))[0]) for i in range(8)]
        assert single == actions.tolist()
        differ += int((plain.act(tables, np.arange(8)) != actions).sum())
    assert differ > 0


def discards(agent: Agent, num_tables: int, num_steps: int) -> list[int]:
    """Return what ``agent`` would do at tables where ukeire plays, tsumogiri included."""
    return [
        int(action)
        for tables, _ in positions(ScriptedAgent("ukeire"), num_tables, num_steps)
        for action in agent.act(tables, np.arange(num_tables))
    ]


def test_a_sampled_agent_draws_its_discards_from_calibrated_probabilities_and_repeats_them(tmp_path: Path) -> None:
    shares = []
    for temperature in (1.0, 1e-3):
        folder = save_nets(tmp_path / str(temperature), calibration=Calibration(temperature=temperature))
        sampled, again, plain = (discards(load_agent(f"{folder}{how}"), 8, 30) for how in (":sampled", ":sampled", ""))
        assert sampled == again
        shares.append(np.mean([one != other for one, other in zip(sampled, plain, strict=True)]))
    assert shares[0] > 1 / 3, "untrained nets give most kinds about the same probability"
    assert shares[1] < 1 / 10, "at this temperature the most probable actions are nearly certain"


def test_a_draw_depends_on_the_seed_of_the_wall(tmp_path: Path) -> None:
    agent = load_agent(f"{save_nets(tmp_path)}:sampled")
    simulator = Simulator(64, tenhou())
    simulator.reset([5] * 64)
    simulator.tables["wall_seed"] = np.arange(64)  # the same hand at every table
    actions = agent.act(simulator.tables, np.arange(64))
    assert len(set(actions.tolist())) > 5


def test_nets_that_self_play_left_alone_answer_as_they_did_there(tmp_path: Path) -> None:
    alone, learned = save_nets(tmp_path / "alone"), tmp_path / "learned"
    policy_set = load_policy_set(alone, "mini", game="riichi")
    save_policy_set(learned, policy_set, "mini", rules="tenhou", step=1, extra={LEARNED_HEADS: ["riichi"]})
    pairs = zip(discards(load_agent(f"{learned}:sampled"), 4, 20), discards(load_agent(str(alone)), 4, 20), strict=True)
    assert all(RIICHI in pair for pair in pairs if pair[0] != pair[1])
    agent, rows = (
        load_agent(f"{learned}:sampled"),
        np.zeros((200, MINI.layout(RIICHI_HEAD).observation_bytes), np.uint8),
    )
    assert isinstance(agent, NetAgent)
    uniforms, no_masks = np.linspace(0, 1, 200, endpoint=False, dtype=np.float32), np.zeros((200, 0), np.uint8)
    nobody, lines = np.zeros(200, np.int32), np.arange(200)
    says_yes, _ = agent.forward(Observations(RIICHI_HEAD, rows, no_masks, nobody, uniforms), lines)
    assert 0 < says_yes.mean() < 1
    call = np.zeros((200, MINI.layout(PONG_HEAD).observation_bytes), np.uint8)
    calls, _ = agent.forward(Observations(PONG_HEAD, call, no_masks, nobody, uniforms), lines)
    assert len(set(calls.tolist())) == 1


def test_the_weak_weights_are_an_agent_of_their_own(tmp_path: Path) -> None:
    save_nets(tmp_path, is_weak=True, in_subfolders=True)
    assert load_agent(f"{tmp_path}:weak,sampled").name == f"{tmp_path}:weak,sampled"
    with pytest.raises(ValueError, match=r"no checkpoint of the discard net: expected discard\.safetensors"):
        load_agent(str(tmp_path))


@pytest.mark.parametrize("in_subfolders", [False, True])
def test_nets_are_loaded_from_a_folder_of_checkpoints(tmp_path: Path, in_subfolders: bool) -> None:
    loaded = load_agent(str(save_nets(tmp_path, in_subfolders=in_subfolders)))
    made = NetAgent("nets", make_nets(), MINI.name)
    assert loaded.name == str(tmp_path)
    for tables, actions in positions(made, 4, 30):
        assert loaded.act(tables, np.arange(4)).tolist() == actions.tolist()


def test_a_folder_has_the_nets_of_one_game_at_most(tmp_path: Path) -> None:
    folder = save_nets(tmp_path)
    assert [game for game in GAMES if has_nets(folder, game=game)] == ["riichi"]
    for game in (game for game in GAMES if not decision_names(game)):
        with pytest.raises(ValueError, match=f"is not an agent of {game}, which has no nets: use random"):
            load_agent(str(folder), game=game)


def test_what_is_no_agent_is_refused_with_what_is_one(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"'nobody' is not an agent: name a scripted one \(random, .*ukeire\)"):
        load_agent("nobody")
    with pytest.raises(ValueError, match="'nobody' is not a scripted agent"):
        ScriptedAgent("nobody")
    with pytest.raises(ValueError, match="has two ways to select actions: use one of probable, matched, sampled"):
        load_agent(f"{tmp_path}:sampled,matched")
    for nets in (make_nets()[:4], make_nets()[::-1]):
        with pytest.raises(ValueError, match="needs one net for each of discard, riichi, chow, pong, kong"):
            NetAgent("nets", nets, MINI.name)
    folder = save_nets(tmp_path / "12:30")
    assert load_agent(str(folder)).name == str(folder), "a colon may be part of a folder"
    (folder / "pong.safetensors").write_bytes((folder / "chow.safetensors").read_bytes())
    with pytest.raises(ValueError, match="it is a chow net, this run needs a pong net"):
        load_agent(str(folder))
