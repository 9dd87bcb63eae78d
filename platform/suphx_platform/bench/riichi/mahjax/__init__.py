"""Mahjax beside our vector environment: JAX needs an environment of its own, so it runs in another process.

Start in mahjax_peer.py.
"""
