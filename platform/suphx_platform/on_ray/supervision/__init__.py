"""Who lives, what is under way, and what is done when an actor dies.

Imports actor/, and of the platform backend/ and parts/.
Start in actor_supervisor.py, then restored_learner.py. A simulator that died: Ray restarts it (topology.py), and
simulator_group.py gives it new games; in Deep Monte-Carlo round_group.py gives it the same round again.
"""
