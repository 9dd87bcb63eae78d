"""Games that are learned by Deep Monte-Carlo: the stages of a run, its report, and deals with a person.

Imports report/, runs/, summary/, viewer/, engine/, recipe/ and charts/.
Start in monte_carlo_pipeline.py; terminal_deals.py stands alone.
"""
