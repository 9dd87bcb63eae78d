"""Deep Monte-Carlo over Ray: simulators play rounds with the newest weights, a learner learns from them.

Imports on_ray/'s supervisor of actors, its actor/, backend/ and parts/.
Start in ray_rounds.py, then round_group.py (who plays) and round_learner_driver.py (who learns).
"""
