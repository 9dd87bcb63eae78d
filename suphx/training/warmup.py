"""Compiles every kernel and builds every table: does once, in small, what runs do.

It plays, writes, replays, encodes, learns, is rewarded and adapts.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import torch

from suphx.features.encoder import ENCODERS, Encoder
from suphx.features.head import DISCARD, HEAD_NAMES
from suphx.features.oracle import ORACLE
from suphx.features.oracle_row import seen_rows
from suphx.features.planes import row_bytes
from suphx.features.samples import encode_kyokus
from suphx.models.net_config import NetConfig
from suphx.models.policy import PolicyNet
from suphx.models.reward_predictor import RewardPredictor, weights_of
from suphx.models.reward_predictor_config import RewardPredictorConfig
from suphx.riichi.replay import Replayer
from suphx.riichi.rules import tenhou
from suphx.riichi.simulator import Simulator
from suphx.riichi.store import KyokuStore, StoreWriter
from suphx.selfplay.agent import Agent, BaselineAgent, NetAgent
from suphx.selfplay.question import Questions, Replies
from suphx.selfplay.rollout import play_games
from suphx.selfplay.table_group import GroupConfig, TableGroup
from suphx.training.adaptation_config import AdaptationConfig
from suphx.training.adapter import Adapter
from suphx.training.global_reward import GlobalReward, Prediction
from suphx.training.reward_config import GlobalRewardConfig


def warm_up() -> None:
    """Fill the kernel cache (jit.cache_root); takes a minute or two at first, seconds afterwards."""
    for encoder in ENCODERS.values():
        untrained = _untrained(encoder)
        agents: list[Agent] = [BaselineAgent("ukeire"), BaselineAgent("random"), untrained]
        _adapt(untrained)
        _play_without_end(encoder)
        logs = list(play_games(agents, np.array([[0, 1, 2, 0]]), [0], tenhou()))
        replayer = Replayer()
        assert not [difference for log in logs for difference in replayer.replay(log)]
        with tempfile.TemporaryDirectory() as name:
            with StoreWriter(Path(name)) as writer:
                for log in logs:
                    writer.add(log)
            store = KyokuStore.open(Path(name))
            for head in range(len(HEAD_NAMES)):
                encode_kyokus(store, np.arange(store.num_kyokus), head, encoder.name)
    _learn()


def _play_without_end(encoder: Encoder) -> None:
    """Compile what self-play needs besides the decision flow: every question is answered with no."""
    heads = tuple(range(len(HEAD_NAMES)))
    group = TableGroup(GroupConfig(num_tables=2, heads=heads), encoder, tenhou(), first_seed=0)
    ended = group.reply([_no(questions) for questions in group.ask()])
    while not len(ended.kyokus.games):
        ended = group.reply([_no(questions) for questions in group.ask()])
    for transitions in ended.with_rewards(_reward(num_tables=2)(ended.kyokus)):
        transitions.take(np.zeros(0, np.int64)).rows.dense()
    wide = TableGroup(GroupConfig(num_tables=2, heads=heads, sees_hidden=True), encoder, tenhou(), first_seed=0)
    for questions in wide.ask(0.5):
        seen_rows(questions.rows, encoder.layout(questions.head).num_planes, ORACLE.num_planes)


def _no(questions: Questions) -> Replies:
    num_rows = len(questions.rows)
    nothing = np.zeros(num_rows, np.float32)
    actions = questions.masks.argmax(axis=1) if questions.head == DISCARD else nothing
    return Replies(actions.astype(np.int16), nothing, nothing, np.zeros(num_rows, np.int32))


def _reward(num_tables: int) -> GlobalReward:
    points = (75.0, 30.0, 0.0, -150.0)
    weights = weights_of(RewardPredictor(RewardPredictorConfig(), points))
    config = GlobalRewardConfig()
    prediction = Prediction(
        weights=weights, points=points, exchange_rate=config.exchange_rate, last_kyoku=config.last_kyoku
    )
    return GlobalReward(prediction, num_tables)


def _adapt(agent: NetAgent) -> None:
    """Compile what deals a position anew and plays it on."""
    simulator = Simulator(1, tenhou())
    simulator.reset([0])
    seats = simulator.tables["actor"].astype(np.int64)
    config = AdaptationConfig(num_rollouts=1, rollouts_per_deal=1, baseline="mean")
    Adapter(agent, config).adapt(simulator.tables, seats, np.zeros(1, np.int64))


def _learn() -> None:
    """Compile what only a training step needs."""
    net = PolicyNet(DISCARD, 1, NetConfig(size="tiny", channels=4, num_blocks=1))
    torch.autograd.backward(net(torch.zeros(1, row_bytes(1), dtype=torch.uint8)).sum())


def _untrained(encoder: Encoder) -> NetAgent:
    nets = [
        PolicyNet(head, encoder.layout(head).num_planes, NetConfig(size="tiny", channels=4, num_blocks=1))
        for head in range(len(HEAD_NAMES))
    ]
    return NetAgent("untrained", nets, encoder)
