"""What the kernels of any game need: compilation and its cache, typed records, random numbers, stored tables.

Imports nothing of this project but atomic_file and cache_folder.
Start in jit.py: the decorator of every kernel.
"""
