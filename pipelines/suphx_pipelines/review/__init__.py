"""The page of a review: decisions of records compared with those of an agent, and whether it learned from them.

Imports report/, stages/, runs/, recipe/ and suphx.
Start in review_page.py.
"""
