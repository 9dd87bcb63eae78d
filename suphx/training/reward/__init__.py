"""Rewards of a kyoku: points, or the reward predictor's difference; learning the predictor.

Start in reward.py, then global_reward.py.
"""
