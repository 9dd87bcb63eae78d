"""The page of a review: decisions of records compared with those of an agent.

Imports report/ and suphx.
Start in review_page.py.
"""
