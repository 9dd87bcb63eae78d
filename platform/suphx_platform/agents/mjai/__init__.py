"""The mjai protocol both ways: external programs play here as agents, and our agents play in other arenas.

Start in mjai_agent.py (their programs here), then mjai_arena.py (our agents elsewhere).
"""
