"""One update of the nets: actor and critic, optimizers, clipping, schedules, trust region, entropy control.

Imports the rest of reinforcement/, suphx.training.loop and suphx.models; no Ray (the platform's on_ray/ wraps it).
Start in learning_step.py, then update_control.py.
"""
