"""RLlib's own PPO on the game, as a reference. Start in rllib_ppo.py."""
