"""The commands, one file each.

Imports arguments.py, suphx_pipelines and all below it.
Start in run.py.
"""
