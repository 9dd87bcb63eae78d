"""What the actors of any run have in common.

Imports parts/ only.
Start in ray_actor.py.
"""
