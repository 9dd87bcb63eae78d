"""What a run has come to: its journal, verdict and page. Start in run_summary.py and verdict.py."""
