"""Runs in which nets learn a game by Deep Monte-Carlo: their stages and their report.

Imports report/, runs/, summary/, engine/, recipe/ and charts/.
Start in monte_carlo_pipeline.py.
"""
