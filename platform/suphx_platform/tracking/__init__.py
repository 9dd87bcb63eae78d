"""Runs, their figures and files, and the registered models, in MLflow. Start in tracking.py, then outbox.py."""
