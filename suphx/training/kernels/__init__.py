"""Which kernels a command needs, what they cost to compile, and compiling them beforehand.

Imports everything that has kernels.
Start in warmup.py.
"""
