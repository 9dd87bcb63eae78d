"""Kubernetes: the API, the Helm chart, manifests. The only folder that imports kubernetes.

Imports nothing of the platform outside it, except in runs/.
Start in cluster_api.py, then runs/launcher.py.
"""
