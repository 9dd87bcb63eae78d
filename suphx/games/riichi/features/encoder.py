"""The encoders by name, and the kernel that self-play and training call for all of them.

>>> encoder = find_encoder("mini")
>>> row = np.zeros(encoder.layout(DISCARD_HEAD).observation_bytes, np.uint8)
>>> encode_observation(encoder.id, load_lookup(), table, seat, DISCARD_HEAD, -1, row)
"""

from __future__ import annotations

from dataclasses import dataclass

from suphx.games.riichi.features import mini, paper
from suphx.games.riichi.features.head import CLAIM_HEADS, HEAD_NAMES
from suphx.games.riichi.features.layout import paper_layout
from suphx.games.riichi.features.layout.planes import PlaneLayout
from suphx.games.riichi.features.lookahead.lookup import Lookup
from suphx.games.riichi.table.table import Table
from suphx.kernel.jit import jit
from suphx.kernel.record import U8

MINI, SUPHX, SUPHX_PLAIN = range(3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """What a seat's decision looks like to a net: a layout for own turns and one for claims."""

    id: int
    """The number that selects it in ``encode_observation``."""
    name: str
    version: int
    """Stored in every checkpoint; a net fits only this version of its encoder."""
    public: PlaneLayout
    """Planes of the discard and riichi heads."""
    claim: PlaneLayout
    """Planes of the chow, pong and kong heads: one row for each possible claim."""

    def layout(self, head: int) -> PlaneLayout:
        """Return the planes that a head (0-4, head.py) sees; ValueError for another number."""
        if not 0 <= head < len(HEAD_NAMES):
            raise ValueError(f"{head} is no head: use 0 to {len(HEAD_NAMES) - 1} ({', '.join(HEAD_NAMES)})")
        return self.claim if head in CLAIM_HEADS else self.public


ENCODERS = {
    "mini": Encoder(id=MINI, name="mini", version=mini.PUBLIC.version, public=mini.PUBLIC, claim=mini.CLAIM),
    "suphx": Encoder(
        id=SUPHX,
        name="suphx",
        version=paper_layout.PUBLIC.version,
        public=paper_layout.PUBLIC,
        claim=paper_layout.CLAIM,
    ),
    "suphx-plain": Encoder(
        id=SUPHX_PLAIN,
        name="suphx-plain",
        version=paper_layout.PLAIN.version,
        public=paper_layout.PLAIN,
        claim=paper_layout.PLAIN_CLAIM,
    ),
}


def find_encoder(name: str) -> Encoder:
    """Return an encoder by its name; ValueError for an unknown one."""
    if name not in ENCODERS:
        raise ValueError(f"{name!r} is no encoder: use one of {', '.join(ENCODERS)}")
    return ENCODERS[name]


@jit
def encode_observation(
    encoder_id: int, lookup: Lookup, t: Table, seat: int, head: int, action: int, row: U8
) -> None:  # fmt: skip
    """Fill ``row`` (uint8, the observation_bytes of the head's layout) with what ``seat`` sees at table ``t``.

    ``action``: the candidate that a claim head judges; the discard and riichi heads do not look at it. Reads nothing
    that is hidden from ``seat``. ``encoder_id``, ``head`` and ``row`` must fit each other: kernels do not check.
    """
    if head not in CLAIM_HEADS:
        action = -1
    if encoder_id == MINI:
        mini.encode(t, seat, action, row)
    else:
        paper.encode(lookup, t, seat, action, encoder_id == SUPHX, row)


@jit
def encode_candidate(
    encoder_id: int, lookup: Lookup, t: Table, seat: int, head: int, action: int, known: U8, row: U8
) -> None:  # fmt: skip
    """Do the same as ``encode_observation``, faster: ``known`` describes another candidate of the decision and head."""
    if encoder_id == MINI or head not in CLAIM_HEADS:
        encode_observation(encoder_id, lookup, t, seat, head, action, row)
    else:
        paper.encode_other_claim(lookup, t, seat, action, encoder_id == SUPHX, known, row)
