from __future__ import annotations

from pathlib import Path

import numpy as np

from suphx.evaluation.game_runner import GameRunner
from suphx.evaluation.rating import RatedGame
from suphx.evaluation.tournament import Player, replay_deals, replay_game
from suphx.games.riichi.table import places_of_scores
from suphx_pipelines.tournament.entrants import Entrant
from suphx_pipelines.tournament.riichi_nights import strongest_game

ENTRANTS = {
    entrant.digest: entrant
    for entrant in (
        Entrant(name="old", address="agents/0", digest="old"),
        Entrant(name="new", address="agents/1", digest="new"),
        Entrant(name="adapting", address="adapt-256:agents/2", digest="adapting"),
        Entrant(name="ukeire", address="ukeire", digest="ukeire"),
        Entrant(name="tsumogiri", address="tsumogiri", digest="tsumogiri"),
        Entrant(name="random", address="random", digest="random"),
        Entrant(name="program", address="mjai:./program", digest="mjai:./program"),
    )
}
RATINGS = {
    "old": 1010.0, "new": 1200.0, "adapting": 1100.0, "ukeire": 1000.0, "tsumogiri": 500.0, "random": 100.0,
    "mjai:./program": 2000.0,
}  # fmt: skip


def game(wall: int, *seats: str) -> RatedGame:
    first, second, third, fourth = seats
    return RatedGame(wall, (first, second, third, fourth), (1, 2, 3, 4))


def test_the_strongest_net_and_the_strongest_others() -> None:
    weak = game(1, "new", "tsumogiri", "random", "old")
    strong = game(2, "ukeire", "adapting", "new", "tsumogiri")
    others = [
        game(3, "old", "adapting", "ukeire", "tsumogiri"),  # stronger others, a weaker net
        game(4, "new", "adapting", "ukeire", "mjai:./program"),  # would have to start a program
        game(5, "ukeire", "new", "adapting", "tsumogiri"),  # the same strength, later
    ]
    assert strongest_game([weak, strong, *others], ENTRANTS, RATINGS) == (strong, ENTRANTS["new"])


def test_without_nets_there_is_no_game() -> None:
    assert strongest_game([game(1, "ukeire", "tsumogiri", "random", "mjai:./program")], ENTRANTS, RATINGS) is None


def test_a_game_is_played_again_as_it_was(tmp_path: Path) -> None:
    names = ("ukeire", "random", "tsumogiri", "random")
    players = [Player(f"digest {seat}", address, f"player {seat}") for seat, address in enumerate(names)]
    played = game(7, "digest 2", "digest 0", "digest 3", "digest 1")
    told: list[float] = []
    log = replay_game(players, played, progress=told.append)
    assert abs(sum(told) - 1) < 1e-9
    assert log.names == ("player 2", "player 0", "player 3", "player 1")
    walls = replay_deals(players, {1: [played]}, runner=GameRunner(records=tmp_path))
    assert walls[1] == places_of_scores(np.array([log.final_scores])).tolist()
