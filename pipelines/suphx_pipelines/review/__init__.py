"""The page of a review: decisions of records compared with those of an agent, and whether it learned from them.

Imports report/, stages/, runs/, recipe/, engine/ and suphx.
Start in review_page.py.
"""
