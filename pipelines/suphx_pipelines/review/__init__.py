"""The page of a review: decisions of records compared with those of an agent, and whether it learned from them.

Start in review_page.py.
"""
