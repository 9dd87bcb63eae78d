"""A run: its stages, how they are run, continued and kept, what it leaves, and the folder of all runs.

Start in stage.py, then runner.py.
"""
