"""The main loop of self-play reinforcement learning.

Imports evaluation/, on_ray/, backend/, parts/, storage/ and console/.
Start in controller.py (the loop); run_folder.py beside it writes the files of a run.
"""
