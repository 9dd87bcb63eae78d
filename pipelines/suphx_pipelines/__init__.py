"""Pipelines: recipes, stages, reports and tournaments. Start in pipeline.py."""
