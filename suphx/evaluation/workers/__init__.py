"""Games spread over processes, and what is kept of them: finished parts and forfeits.

Imports suphx.selfplay and what is below it, nothing of the folders around it.
Start in game_runner.py, then game_task.py and worker_processes.py.
"""
