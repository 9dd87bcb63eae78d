"""MLflow: runs, metrics, models. The only room that imports mlflow.

Imports console/.
Start in tracking.py.
"""
