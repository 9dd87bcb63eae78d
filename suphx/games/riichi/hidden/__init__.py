"""What a seat cannot see: sampling hidden hands and walls that agree with what it has seen.

Imports engine/, hand/ and table/.
Start in determinisation.py.
"""
