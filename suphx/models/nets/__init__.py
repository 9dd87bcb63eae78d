"""The architectures: policy and critic (residual), reward predictor (recurrent).

Imports packed/.
Start in policy.py.
"""
