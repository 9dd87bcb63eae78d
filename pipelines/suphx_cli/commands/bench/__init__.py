"""The commands of `suphx bench`.

Imports arguments/ and commands/.
Start in bench.py.
"""
