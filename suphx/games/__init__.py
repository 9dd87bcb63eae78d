"""The games, one folder each.

A game imports suphx.kernel and no other game; nothing here imports torch.
Start in riichi/. Only riichi can be played so far: the layers above import it directly.
"""
