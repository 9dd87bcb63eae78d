"""The description of a stage's run in MLflow: what the stage does, and where its results are shown."""

from __future__ import annotations

_PURPOSES = {
    "records": "Reads the game records, or plays games of a scripted agent, for the nets to learn from.",
    "supervised": "Trains one net on the decisions of the games. *Model metrics* has loss and accuracy over the steps.",
    "initial_agent": "Copies the nets of the agent that the run begins with.",
    "learning_curve": "Trains a net on a part of the games, to measure the effect of more games.",
    "ablation": "Trains a net with the planes of one encoder, to measure the effect of the planes.",
    "evaluation": "Plays a match of the nets so far against an opponent on shared walls.",
    "playouts": "Learns from playouts: several actions of one decision, played on the same hidden tiles.",
    "reinforcement": "Improves nets by self-play. *Model metrics* has strength, entropy and throughput.",
    "oracle": "Self-play of nets that see hidden tiles (oracle guiding).",
    "oracle_decay": "Self-play that sees fewer and fewer hidden tiles, and at last none.",
    "oracle_distillation": "Self-play that stays near a teacher that sees hidden tiles.",
    "entropy_study": "Self-play with a fixed coefficient of the entropy, for comparison.",
    "reward_predictor": "Trains the net that predicts the reward of a game from its kyokus so far.",
    "agent_comparison": "Trains or plays the agents of the paper's figure 8 beside each other.",
    "sample_game": "Plays games of the newest or strongest nets; `game.html` under *Artifacts* shows them.",
    "report": "Writes the report: `report.html` and its pictures under *Artifacts*.",
    "learning": "Learns by deep Monte-Carlo self-play.",
    "pool": "Finds the agents of the night: those of the recipe, the newest nets of all runs and the champion.",
    "leaderboard": "Plays games between all agents of the pool and rates them over all nights.",
    "decision": "Plays the best new nets against the champion until it is clear who is stronger.",
    "promotion": "Registers the nets that have won against the champion as the new one.",
    "match": "Plays the finished nets against the opponents on shared decks.",
}
"""First part of the stage's name -> what it does."""


def stage_note(name: str, run_id: str) -> str:
    """Return the description of stage ``name``, in Markdown."""
    purpose = _PURPOSES.get(name.partition("/")[0], "")
    place = (
        f"Stage `{name}` of the run `{run_id}`, whose description has the verdict and whose artifacts have the report."
    )
    return "\n\n".join(text for text in (purpose, place) if text)
