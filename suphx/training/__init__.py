"""Losses, datasets and updates: supervised, reinforcement, Deep Monte-Carlo, reward predictor, run-time adaptation.

Start in reinforcement/policy_gradient.py (equations 1 and 2; 3 is in learner_config.py) or supervised/supervised.py.
Gradients are computed in reinforcement/learning_step.py, supervised/supervised.py, playouts/branch_learner.py,
monte_carlo/monte_carlo_step.py, reward/reward_learning.py and adaptation/adaptation.py.
"""
