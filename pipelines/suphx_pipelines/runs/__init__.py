"""Runs the stages of a run and keeps what is finished; the folder of all runs.

Imports summary/, engine/ and recipe/.
Start in runner.py.
"""
