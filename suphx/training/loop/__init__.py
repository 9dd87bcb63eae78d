"""What every training loop needs: schedule, optimizer, saved state, a watch for losses that diverge, processes.

Start in training_state.py.
"""
