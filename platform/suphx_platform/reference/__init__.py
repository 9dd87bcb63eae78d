"""RLlib's own PPO on the game, as a reference.

Imports on_ray/.
Start in rllib_ppo.py.
"""
