from __future__ import annotations

import pickle

from suphx.riichi.record_error import ForeignRecord, RecordError


def test_an_error_says_reason_and_place_and_survives_pickling() -> None:
    for kind in (RecordError, ForeignRecord):
        error = pickle.loads(pickle.dumps(kind("a tile is missing", "line 3")))
        assert isinstance(error, ValueError)
        assert type(error) is kind
        assert (error.reason, error.position) == ("a tile is missing", "line 3")
        assert str(error) == "a tile is missing (at line 3)"
