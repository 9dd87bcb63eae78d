"""Who lives, what is under way, and what is done when an actor dies.

Imports actor/, and of the platform backend/ and parts/.
Start in actor_supervisor.py, then restored_learner.py.
"""
