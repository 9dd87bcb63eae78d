"""Features of games for nets: planes, masks and labels as numpy arrays."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from suphx.games.mahjong.planes import unpack_planes
from suphx.games.riichi.archive.store import write_store
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.features.samples import BadDealError, encode_kyokus
from suphx.games.riichi.names import head_index
from suphx.games.riichi.records.game_log import GameLog
from suphx.kernel.record import I8, U8


@dataclass(frozen=True, slots=True, eq=False)
class EncodedDecisions:
    """The decisions of one head, in the order of the games. Compare the arrays, not two of these."""

    planes: U8
    """uint8 [n, planes, 34] of 0 and 1."""
    masks: U8
    """uint8 [n, 34]: kinds that may be discarded; [n, 0] for other heads."""
    labels: I8
    """int8 [n]: the kind that was discarded; 1 = yes, 0 = no for other heads."""


def encode(games: Iterable[GameLog], head: str = "discard", encoder: str = "mini") -> EncodedDecisions:
    """Encode all decisions of one head in ``games``, each from the view of its player.

    ``head``: discard, riichi, chow, pong or kong; ``encoder``: mini (288 planes for a discard), suphx-plain or suphx
    (838; docs/features.md). A hanchan has about 500 discards; with suphx they take 15 MB. ValueError for another head
    or encoder, and for games that contradict the rules.

    >>> from suphx import encode, simulate
    >>> encoded = encode(simulate("ukeire", 1, seed=7), "riichi")
    >>> encoded.planes.shape[2], len(encoded.labels) == len(encoded.planes), set(encoded.labels.tolist()) <= {0, 1}
    (34, True, True)
    """
    number = head_index(head)
    num_planes = find_encoder(encoder).layout(number).num_planes
    with tempfile.TemporaryDirectory(prefix="suphx-encode-") as folder:
        store = write_store(games, Path(folder))
        try:
            samples = encode_kyokus(store, np.arange(store.num_kyokus), number, encoder)
        except BadDealError as error:
            raise ValueError(
                f"game {error.game} contradicts the rules in deal {error.deal}: leave it out; `suphx records verify` "
                "shows what is wrong"
            ) from error
    planes = np.empty((len(samples.planes), num_planes, 34), np.uint8)
    for i, row in enumerate(samples.planes):
        planes[i] = unpack_planes(row, num_planes)
    return EncodedDecisions(planes, samples.masks, samples.labels)
