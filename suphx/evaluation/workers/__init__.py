"""Games spread over processes, and what is kept of them: finished parts and forfeits.

Start in game_runner.py, then play_plan.py, game_task.py, side_runner.py and worker_processes.py.
"""
