"""Deep Monte-Carlo over Ray: simulators play rounds with the newest weights, a learner learns from them.

Imports on_ray/'s session, topology, supervision/ and actor/; of the platform backend/ and parts/.
Start in ray_rounds.py, then round_group.py (who plays) and round_learner_driver.py (who learns).
"""
