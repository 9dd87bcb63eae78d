"""The policy gradient: advantages, losses, entropy control, trust region, distillation, oracle guiding.

Imports suphx.models and suphx.games; update/ also loop/ and suphx.experience.
Start in policy_gradient.py.
"""
