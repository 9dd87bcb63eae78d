"""The games, one folder each.

A game imports suphx.kernel, suphx.experience, its contract and no other game; variants of mahjong share mahjong/.
Nothing here imports torch. Start in
registry.py, which has them by name, and in the contracts: head_game.py (several nets for each seat) and
candidate_game.py (one net that values candidate moves). docs/games.md lists the steps for a new game.
"""
