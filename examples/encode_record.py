"""Encode a game record: the discards of a game as a net sees them.

python examples/encode_record.py RECORD
"""

import sys

import suphx

if len(sys.argv) != 2:
    sys.exit("usage: python examples/encode_record.py RECORD (a file of tenhou.net or mjai; docs/records.md)")
discards = suphx.encode(suphx.load_games(sys.argv[1]), "discard", "suphx")
planes = discards.planes[0]  # of the first discard: 0 and 1, [838, 34]
print(f"{len(discards.planes)} discards of {len(planes)} planes x 34 tile kinds")
print("tiles in hand by kind:", planes[:4].sum(axis=0))  # docs/features.md: planes 0-3 are the hand
print("kind that was discarded:", discards.labels[0])
