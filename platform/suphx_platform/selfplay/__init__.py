"""The main loop of self-play reinforcement learning.

Start in policy_trainer.py (the loop); run_folder.py beside it writes the files of a run.
"""
