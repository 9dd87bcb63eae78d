"""What a seat cannot see: hands of the others that fit with all that it has seen.

Imports engine/ and cards/.
Start in determinization.py.
"""
