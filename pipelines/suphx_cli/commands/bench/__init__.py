"""The commands of `suphx bench`. Start in bench.py."""
