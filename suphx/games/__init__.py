"""The games, one folder each.

A game imports suphx.kernel, suphx.experience, its contract and no other game; variants of mahjong share mahjong/.
Nothing here imports torch. Start in
registry.py, which has them by name, and in the contract: game.py (rules, agents, records) and learning.py (what nets
decide and see). docs/games.md lists the steps for a new game.
"""
