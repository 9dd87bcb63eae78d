"""Encode a game record: the discards of a game as a net sees them.

python examples/encode_record.py RECORD
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import suphx
from suphx.games.riichi import (
    DISCARD_HEAD,
    encode_kyokus,
    find_encoder,
    unpack_planes,
    write_store,
)

if len(sys.argv) != 2:
    sys.exit("usage: python examples/encode_record.py RECORD (a file of tenhou.net or mjai; docs/records.md)")
with tempfile.TemporaryDirectory() as folder:
    store = write_store(suphx.load_games(sys.argv[1]), Path(folder))
    samples = encode_kyokus(store, np.arange(store.num_kyokus), DISCARD_HEAD, "suphx")
layout = find_encoder("suphx").layout(DISCARD_HEAD)
planes = unpack_planes(samples.planes[0], layout.num_planes)  # of the first discard: 0 and 1, [838, 34]
hand = layout["hand"]
print(f"{len(samples.planes)} discards of {layout.num_planes} planes x 34 tile kinds")
print("tiles in hand by kind:", planes[hand.first : hand.first + hand.count].sum(axis=0))
print("kind that was discarded:", samples.labels[0])
