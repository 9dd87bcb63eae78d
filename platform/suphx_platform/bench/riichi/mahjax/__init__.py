"""Mahjax beside our vector environment: JAX needs an environment of its own, so it runs in another process.

Imports other modules of bench/ and nothing else; mahjax_process.py imports nothing of this project.
Start in mahjax_peer.py.
"""
