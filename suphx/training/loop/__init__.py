"""What every training loop needs: schedule, optimizer, saved state, a watch for losses that diverge, processes.

Imports data/.
Start in training_state.py.
"""
