"""Runs on a Kubernetes cluster: the API, the chart's manifests, and launch, status, logs, stop, resume.

The only folder that imports kubernetes. Start in launcher.py.
"""
