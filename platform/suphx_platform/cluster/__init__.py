"""Kubernetes: the API, the Helm chart, manifests. The only room that imports kubernetes.

Imports nothing of the platform above console/.
Start in cluster_api.py, then runs/launcher.py.
"""
