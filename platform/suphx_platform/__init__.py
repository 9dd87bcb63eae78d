"""The outside world: Figure 6 of the paper in one process and over Ray, MLflow, object storage, Kubernetes.

Start in parts/ (the five parts of Figure 6), then selfplay/policy_trainer.py.
"""
