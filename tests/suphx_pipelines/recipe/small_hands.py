"""Settings with which recipes of games of single hands learn for seconds."""

from __future__ import annotations

SMALL = (
    *("records.played_games=40", "net.channels=8", "supervised.total_minutes=0", "supervised.max_steps=4"),
    *("supervised.batch_size=64", "evaluation.hanchans=8", "evaluation.workers=1", "reinforcement.max_minutes=0"),
    *("reinforcement.max_updates=2", "reinforcement.evaluate_every=0", "reinforcement.evaluation_hanchans=8"),
    *("reinforcement.final_hanchans=8", "reinforcement.evaluation_workers=1", "reinforcement.simulator.num_tables=32"),
    *("reinforcement.buffer.batch_size=256", "reinforcement.learner.critic_warmup.decisions=500"),
)
