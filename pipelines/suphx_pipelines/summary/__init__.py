"""What a run has come to: its journal, verdict and page.

Imports engine/ and recipe/.
Start in run_summary.py and verdict.py.
"""
