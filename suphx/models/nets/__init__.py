"""The architectures: policy and critic (residual), reward predictor (recurrent), values of candidate moves.

Imports packed/.
Start in policy.py.
"""
