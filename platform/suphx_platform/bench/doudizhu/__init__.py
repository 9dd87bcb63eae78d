"""How fast DouDizhu is played, at random and by nets, and how peers compare.

Imports nothing else of the platform but bench/.
Start in doudizhu.py.
"""
