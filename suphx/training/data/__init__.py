"""Datasets of decisions: streaming, splitting, augmentation. Start in dataset.py."""
