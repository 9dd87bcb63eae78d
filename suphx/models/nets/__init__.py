"""The architectures: policy and critic (residual), reward predictor (recurrent), values of candidate moves.

Start in policy.py.
"""
