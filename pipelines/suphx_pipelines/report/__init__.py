"""The HTML report of a run.

Imports stages/, summary/, engine/, recipe/ and charts/.
Start in report.py.
"""
