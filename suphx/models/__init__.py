"""Nets in torch: architectures, inference and checkpoints. Start in nets/policy.py."""
