"""Compiling kernels before a command needs them, with several processes and a progress bar.

Imports suphx.training.kernels and console/.
Start in kernel_warmup.py.
"""
