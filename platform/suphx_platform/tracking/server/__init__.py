"""Commands beside the chart's MLflow server: its users, and its liveness probe.

Imports client/, tracking's model_registry.py, suphx.games and suphx.credentials.
Start in server_users.py.
"""
