"""The games, one folder each.

A game imports suphx.kernel and no other game; nothing here imports torch.
Start in riichi/.
"""
