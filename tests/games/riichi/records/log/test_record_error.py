from __future__ import annotations

import pickle

from suphx.games.riichi.records.log import record_error
from suphx.games.riichi.records.log.record_error import (
    CHIPS,
    FOREIGN_KINDS,
    RECORD_REMEDIES,
    ForeignRecord,
    RecordError,
)


def test_an_error_says_reason_and_place_and_survives_pickling() -> None:
    for kind in (RecordError, ForeignRecord):
        error = pickle.loads(pickle.dumps(kind("a tile is missing", "line 3", CHIPS)))
        assert isinstance(error, ValueError)
        assert type(error) is kind
        assert (error.reason, error.position, error.kind) == ("a tile is missing", "line 3", CHIPS)
        assert str(error) == "a tile is missing (at line 3)"


def test_every_kind_of_reason_has_a_remedy() -> None:
    kinds = {value for name, value in vars(record_error).items() if name.isupper() and isinstance(value, str)}
    assert kinds == set(RECORD_REMEDIES)
    assert kinds >= FOREIGN_KINDS
    assert all(RECORD_REMEDIES.values())
