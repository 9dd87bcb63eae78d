"""The main loop of self-play reinforcement learning.

Start in controller.py (the loop); run_folder.py beside it writes the files of a run.
"""
