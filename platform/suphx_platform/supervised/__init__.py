"""Supervised learning over Ray Train.

Imports on_ray/ and storage/.
Start in data_parallel.py.
"""
