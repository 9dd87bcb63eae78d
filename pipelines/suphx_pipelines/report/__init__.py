"""The HTML report of a run.

Imports stages/ and charts/.
Start in report.py.
"""
