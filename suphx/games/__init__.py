"""The games, one folder each.

A game imports suphx.kernel, suphx.experience, candidate_game.py and no other game; nothing here imports torch.
Start in registry.py, which has them by name, and candidate_game.py, the contract; docs/games.md lists the steps for a
new game. The layers above import what a game's __init__.pyi lists.
"""
