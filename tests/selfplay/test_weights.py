from __future__ import annotations

import sys
from threading import Thread

import numpy as np

from suphx.selfplay.weights import ParameterServer, PolicyVersion, Weights


def weights(number: int) -> Weights:
    return {"discard": {"bias": np.array([number])}}


def new_server(*, keeps_older: bool = False) -> ParameterServer:
    return ParameterServer([PolicyVersion(0, weights(0))], keeps_older=keeps_older)


def numbers(server: ParameterServer) -> list[int]:
    return [version.number for version in server.versions]


def test_versions_count_up_and_are_given_to_whoever_is_behind() -> None:
    server = new_server()
    assert server.newer_than(0) is None
    assert [server.publish(weights(1)), server.publish(weights(2))] == [1, 2]
    found = server.newer_than(0)
    assert found is not None
    (newest,) = found
    assert (newest.number, newest.weights["discard"]["bias"].item()) == (2, 2)


def test_a_few_older_versions_are_kept_for_opponents_if_somebody_plays_them() -> None:
    plain, server = new_server(), new_server(keeps_older=True)
    assert numbers(server) == [0, 0]
    for number in range(1, 57):
        plain.publish(weights(number))
        server.publish(weights(number))
        if number == 25:
            assert numbers(server) == [25, 0, 10, 20]
    assert numbers(plain) == [56]
    assert numbers(server) == [56, 20, 30, 40, 50]
    restored = ParameterServer(server.versions, keeps_older=True)
    assert (restored.publish(weights(57)), numbers(restored)) == (57, [57, 20, 30, 40, 50])


def test_who_is_behind_is_known_and_asked_while_others_fetch() -> None:
    server = new_server()
    server.newer_than(-1, "engine 0")
    server.publish(weights(1))
    server.publish(weights(2))
    server.newer_than(-1, "engine 1")
    assert server.behind() == {"engine 0": 2, "engine 1": 0}
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
