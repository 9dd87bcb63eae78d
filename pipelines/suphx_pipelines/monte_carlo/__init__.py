"""Games that are learned by Deep Monte-Carlo: the stages of a run, its report, and deals with a person.

Start in monte_carlo_pipeline.py;
"""
