"""How nets learn: from records, self-play, playouts, returns of whole games, rollouts of one hand.

Start in trainer.py; losses are in policy_gradient.py (equations 1 and 2; 3 is in learner_config.py), supervised.py,
reward_learning.py, playouts.py, monte_carlo.py and adaptation.py.
"""
