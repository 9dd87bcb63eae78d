"""What ``import suphx`` offers: games, records as tables, planes, matches and reviews in a few functions.

Other packages import the parts themselves. Start in docs/python.md.
"""
