"""Nets as safetensors files. Start in checkpoint.py."""
