"""Commands beside the chart's MLflow server: its users, and its liveness probe.

Imports client/, suphx.games and suphx.credentials, and tracking's models.
Start in server_users.py.
"""
