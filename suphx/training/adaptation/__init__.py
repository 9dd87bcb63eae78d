"""Parametric Monte-Carlo policy adaptation (section 3.4 of the paper).

Imports loop/, reinforcement/, reward/, suphx.selfplay and what is below it.
Start in adaptation.py.
"""
