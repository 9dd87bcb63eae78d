"""Nets as safetensors files.

Imports nets/.
Start in checkpoint.py.
"""
