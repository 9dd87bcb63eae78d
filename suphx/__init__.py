"""Rules and learning: games, self-play, nets, training and evaluation.

Imports nothing of the platform: no Ray, Kubernetes, MLflow or boto3.
Start in suphx.games.riichi.engine.simulator (the game) or suphx.games.riichi.selfplay.table_group (self-play).
"""
