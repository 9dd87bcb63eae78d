"""Rewards of a kyoku: points, or the reward predictor's difference; learning the predictor.

Imports loop/, suphx.models, suphx.experience and suphx.games.
Start in reward.py, then global_reward.py.
"""
