"""Nets in torch: architectures, inference and checkpoints. Start in policy.py."""
