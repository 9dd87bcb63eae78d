"""The commands of `suphx bench`.

Imports arguments/, commands/adapt.py and suphx_platform.bench.
Start in bench.py.
"""
