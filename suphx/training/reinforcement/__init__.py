"""The policy gradient: advantages, losses, entropy control, trust region, distillation, oracle guiding.

Start in policy_gradient.py.
"""
