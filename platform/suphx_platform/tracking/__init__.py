"""MLflow: runs, metrics, models. The only folder that imports mlflow.

Imports console/; the folder itself its messages/ and client/. server/ has commands beside the chart's MLflow server.
Start in tracking.py (what a run logs), then mlflow_store.py (the runs in MLflow).
"""
