"""Runs on a cluster: launch, status, logs, stop, resume, scale, delete.

Imports cluster/, storage/, tracking/ and console/.
Start in launcher.py.
"""
