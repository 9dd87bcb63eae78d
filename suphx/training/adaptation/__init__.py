"""Parametric Monte-Carlo policy adaptation (section 3.4 of the paper).

Imports reinforcement/ and reward/.
Start in adaptation.py.
"""
