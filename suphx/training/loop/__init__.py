"""What every training loop needs: schedule, optimizer, saved state, a watch for losses that diverge, processes.

Imports data/, suphx.models and suphx.games.
Start in training_state.py.
"""
