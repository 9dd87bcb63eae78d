"""The commands, one file each.

Imports arguments/, suphx_pipelines and all below it.
Start in run.py.
"""
