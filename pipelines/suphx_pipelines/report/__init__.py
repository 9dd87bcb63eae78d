"""The HTML report of a run.

Imports stages/, summary/, viewer/, engine/, recipe/ and charts/.
Start in report.py.
"""
