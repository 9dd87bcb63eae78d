"""The games, one folder each.

A game imports suphx.kernel, suphx.experience and no other game; nothing here imports torch.
Start in riichi/, the only game so far. The layers above import what its __init__.pyi lists.
"""
