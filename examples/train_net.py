"""Train a tiny discard net on games of ukeire and print its test accuracy.

python examples/train_net.py [GAMES [STEPS]]; the default, 200 games and 300 steps, takes about two minutes on one core.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

from suphx.games.riichi.archive.store import write_store
from suphx.games.riichi.names import DISCARD_HEAD
from suphx.games.riichi.rules import tenhou
from suphx.models.policy import NetConfig
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.rollouts.rollout import play_games
from suphx.training.config import SplitConfig, StreamConfig, SupervisedConfig
from suphx.training.head_data import head_data
from suphx.training.supervised import HeadTrainer, HeadTraining

num_games, num_steps = (int(text) for text in [*sys.argv[1:], *("200", "300")[len(sys.argv) - 1 :]])
with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    games = play_games([load_agent("ukeire")], np.zeros((num_games, 4), np.int64), range(num_games), tenhou())
    data = head_data(write_store(games, folder / "store"), DISCARD_HEAD, "mini", SplitConfig(), game="riichi")
    config = SupervisedConfig(max_steps=num_steps, max_epochs=0, report_every=20)
    job = HeadTraining(data=data, rules_version="tenhou-1", net=NetConfig(size="tiny"), config=config,
                       stream=StreamConfig(num_workers=0))  # fmt: skip
    metrics = HeadTrainer(
        *(job, folder / "discard"), report=lambda point: print(f"step {point['step']}: loss {point['train_loss']:.3f}")
    ).run()
print(f"test accuracy {metrics['test']['accuracy']:.1%} over {metrics['test']['samples']:,} discards")
