"""The policy gradient: advantages, losses, entropy control, trust region, distillation, oracle guiding.

Imports suphx.models and suphx.selfplay.
Start in policy_gradient.py.
"""
