"""Parametric Monte-Carlo policy adaptation (section 3.4 of the paper). Start in adaptation.py."""
