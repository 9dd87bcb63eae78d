"""The five parts of Figure 6 as plain classes (simulator, inference engine, replay buffer, learner, parameter server).

Start in reinforcement_config.py, then learner.py.
"""
