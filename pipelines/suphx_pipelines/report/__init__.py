"""The HTML report of a run. Start in report.py."""
