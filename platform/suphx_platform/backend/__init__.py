"""The parts put together in one process, the state they are saved in, and matches between checkpoints.

Start in backend.py (the interface), then local_backend.py.
"""
