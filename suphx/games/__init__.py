"""The games, one folder each.

A game imports suphx.kernel, suphx.experience and no other game; nothing here imports torch.
The layers above import what the __init__.pyi of a game lists. Start in riichi/; doudizhu/ is a much smaller game.
"""
