"""What the actors of any run have in common, and what a process uses of CPU and memory.

Imports parts/ only.
Start in ray_actor.py.
"""
