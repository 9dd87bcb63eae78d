from __future__ import annotations

import sys
from threading import Thread

import numpy as np
import pytest

from suphx.selfplay.config import ParameterServerConfig
from suphx.selfplay.weights import ParameterServer, PolicyVersion, Weights


def weights(number: int) -> Weights:
    return {"discard": {"bias": np.array([number])}}


def test_versions_count_up_and_are_given_to_whoever_is_behind() -> None:
    server = ParameterServer(ParameterServerConfig(), weights(0), num_older=4)
    assert server.newer_than(0) is None
    assert [server.publish(weights(1)), server.publish(weights(2))] == [1, 2]
    newest = server.newer_than(0)
    assert newest is not None
    assert (newest.number, newest.weights["discard"]["bias"].item()) == (2, 2)


def test_no_old_version_is_kept_if_nobody_plays_one() -> None:
    server = ParameterServer(ParameterServerConfig(older_every=1), weights(0), num_older=0)
    for number in (1, 2, 3):
        server.publish(weights(number))
    assert (server.latest, [version.number for version in server.older()]) == (3, [0])


def test_it_knows_who_is_behind() -> None:
    server = ParameterServer(ParameterServerConfig(), weights(0), num_older=4)
    server.newer_than(-1, "engine 0")
    server.publish(weights(1))
    server.publish(weights(2))
    server.newer_than(-1, "engine 1")
    assert server.behind() == {"engine 0": 2, "engine 1": 0}


def test_who_is_behind_is_asked_while_others_fetch() -> None:
    server = ParameterServer(ParameterServerConfig(), weights(0), num_older=4)
    fetchers = Thread(target=lambda: [server.newer_than(-1, f"engine {number}") for number in range(20_000)])
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        fetchers.start()
        while fetchers.is_alive():
            server.behind()
    finally:
        sys.setswitchinterval(interval)
        fetchers.join()
    assert len(server.behind()) == 20_000


def test_a_few_older_versions_are_kept_for_opponents() -> None:
    server = ParameterServer(ParameterServerConfig(older_every=2), weights(0), num_older=3)
    assert [version.number for version in server.older()] == [0]
    for number in range(1, 10):
        server.publish(weights(number))
    assert [version.number for version in server.older()] == [4, 6, 8]


def test_versions_never_go_back() -> None:
    server = ParameterServer(ParameterServerConfig(), weights(0), num_older=4)
    server.restore(PolicyVersion(7, weights(7)), [])
    with pytest.raises(ValueError, match="never go back"):
        server.restore(PolicyVersion(6, weights(6)), [])
    server.restore(PolicyVersion(9, weights(9)), [PolicyVersion(5, weights(5))])
    assert server.publish(weights(10)) == 10
