"""Benchmarks of `suphx bench`: the rules, nets, self-play."""
