"""Compiling kernels before a command needs them, with several processes and a progress bar.

Start in kernel_warmup.py.
"""
