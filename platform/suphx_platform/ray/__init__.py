"""The parts of self-play as Ray actors: placement, supervision, new starts; the learner over several GPUs by RLlib.

Start in backend.py, then actors.py, supervisor.py, topology.py.
"""
