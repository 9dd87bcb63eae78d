"""Pipelines: recipes, stages, reports and tournaments.

Imports suphx_platform and suphx.
Start in pipeline.py.
"""
