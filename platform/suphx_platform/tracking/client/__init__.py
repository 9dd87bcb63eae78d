"""MLflow's client: time limits of its calls and their errors, and the experiment of our runs.

Imports nothing of the folders around it.
Start in mlflow_call.py.
"""
