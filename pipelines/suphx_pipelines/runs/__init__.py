"""Running the stages of a run, what is finished is kept; and the folder of all runs.

Imports summary/ and engine/.
Start in runner.py.
"""
