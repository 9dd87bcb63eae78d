"""MLflow: runs, metrics, models. The only folder that imports mlflow.

Imports console/.
Start in tracking.py.
"""
