"""Runs on a cluster: launch, status, logs, stop, resume, scale, delete.

Imports cluster/, storage/ and tracking/.
Start in launcher.py.
"""
