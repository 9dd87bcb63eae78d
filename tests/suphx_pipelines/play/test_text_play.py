"""Deals of a game of two sides in the terminal: what is typed and shown, and which deals are saved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from suphx.games.game import Agent
from suphx.games.registry import candidate_game
from suphx.kernel.record import I32
from suphx.training.monte_carlo import new_nets
from suphx_pipelines.play.text_play import CandidateTextPlay, TextPlayResult, TextPlaySetup
from tests.games.doudizhu.builders import new_agent

GAME = candidate_game("doudizhu")
RULES = GAME.new_rules({})
NEXT = "Enter for the next deal"


class WatchedDeals(CandidateTextPlay):
    """Remembers the legal moves of the person."""

    legal: I32

    def _choose(self, legal: I32) -> int:
        self.legal = legal
        return super()._choose(legal)


class Typist:
    """Types random legal moves, or first what it was told to; leaves after some deals."""

    def __init__(self, setup: TextPlaySetup, deals: int, told: list[str]) -> None:
        self.shown: list[str] = []
        self.turns = self.asked = 0
        self._deals, self._told = deals, told
        self._rng = np.random.default_rng(0)
        self.terminal = WatchedDeals(setup, self.shown.append, self.read)

    def read(self, prompt: str) -> str:
        if prompt.startswith(NEXT):
            self.asked += 1
            if self.asked % 2:
                return "h"  # no answer: it is asked again
            self._deals -= 1
            return "" if self._deals else "q"
        if self._told:
            typed = self._told.pop(0)
            if typed == "end of input":
                raise EOFError
            if typed == "Ctrl-C":
                raise KeyboardInterrupt
            return typed
        if prompt.startswith("bid"):
            return "p"
        moves = self.terminal.legal
        assert len(moves) > 1, "nobody is asked without a choice"
        self.turns += 1
        return GAME.text.move_text(RULES, int(self._rng.choice(moves))).split(" (")[0].lower()


def new_setup(folder: Path, *, seat: int = 0, player: Agent | None = None) -> TextPlaySetup:
    return TextPlaySetup(
        game=GAME,
        rules=RULES,
        player=player or GAME.scripted_agent("rule"),
        agent="rule",
        seat=seat,
        name="Anna",
        records=folder / "deals.jsonl",
    )


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_deals_are_played_by_typed_moves_and_saved(seat: int, tmp_path: Path) -> None:
    typist = Typist(new_setup(tmp_path, seat=seat), 3, [])
    result = typist.terminal.play(5)
    records = list(GAME.read_records(tmp_path / "deals.jsonl"))
    assert result.deals == len(records) == 3
    assert [record.players[seat] for record in records] == ["Anna"] * 3
    assert sum(record.players.count("rule") for record in records) == 6
    side = {0: ("landlord",)}.get(seat, ("landlord_down", "landlord_up"))
    assert result.won == sum(record.winner in side for record in records)
    assert (
        typist.shown[-1]
        == f"You {'win' if records[-1].winner in side else 'lose'}: {result.won} of 3 deals won so far."
    )
    assert typist.turns > 5
    played = [line.strip() for line in typist.shown if line.startswith("  landlord_up: ")]
    said = [f"landlord_up: {move}" for record in records for move in record.moves[2::3]]
    if seat != 2:
        assert [sorted(line.split(" (")[0]) for line in played] == [sorted(line) for line in said]


@pytest.mark.parametrize("bidding", [False, True])
@pytest.mark.parametrize("typed", ["quit", "QUIT", "end of input", "Ctrl-C"])
def test_a_deal_that_is_left_is_not_saved(typed: str, tmp_path: Path, *, bidding: bool) -> None:
    setup = replace(new_setup(tmp_path), rules=GAME.new_rules({"bidding": bidding}))
    typist = Typist(setup, 9, [typed])
    assert typist.terminal.play(1) == TextPlayResult(0, 0)
    assert typist.shown[-1] == "The deal that was left is not saved."
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("34", "  34 is not a move: ? lists the types"),
        ("3x", "  'X' in '3x' is not a card: use 3456789TJQKA2BR (T = 10, B and R = jokers)"),
        ("3", "  you do not have 3 (solo); l lists what is legal"),
        ("p", "  you lead: play something; l lists what is legal"),
        ("h", "  rule would play 4 (solo)"),
        ("l", "  solo: 4 5 6 7 8 9 T K A 2 B R"),
        ("?", f"  {GAME.text.help[0]}"),
        ("", f"  {GAME.text.help[0]}"),
    ],
)
def test_what_is_no_legal_move_changes_nothing(typed: str, shown: str, tmp_path: Path) -> None:
    plain = Typist(new_setup(tmp_path), 9, ["quit"])
    plain.terminal.play(4)
    typist = Typist(new_setup(tmp_path), 9, [typed, "quit"])
    typist.terminal.play(4)
    new = typist.shown[len(plain.shown) - 1 :]
    assert new[0] == shown


def test_records_that_cannot_be_written_yet_are_written_later(tmp_path: Path) -> None:
    setup = new_setup(tmp_path / "gone")
    (tmp_path / "gone").write_text("a file in the place of the folder")
    typist = Typist(setup, 1, [])
    with pytest.raises(OSError, match="gone"):
        typist.terminal.play(5)
    told = next(number for number, line in enumerate(typist.shown) if "is not saved yet: " in line)
    assert "1 deals won so far." in typist.shown[told - 1], "the result is shown first"
    (tmp_path / "gone").unlink()
    again = Typist(setup, 2, [])
    assert again.terminal.play(5).deals == 2
    assert len(list(GAME.read_records(setup.records))) == 2


def test_nets_show_the_values_of_their_best_moves(tmp_path: Path) -> None:
    player = new_agent(new_nets(GAME, 0))
    typist = Typist(new_setup(tmp_path, player=player), 9, ["h", "quit"])
    typist.terminal.play(4)
    first = next(number for number, line in enumerate(typist.shown) if line.startswith("  rule would play "))
    values = [line.split() for line in typist.shown[first + 1 : -1]]
    assert len(values) == 5
    assert [float(value[0]) for value in values] == sorted((float(value[0]) for value in values), reverse=True)
    assert typist.shown[first] == f"  rule would play {' '.join(values[0][1:])}"


def test_a_person_bids_and_gets_the_seat_that_the_auction_gives(tmp_path: Path) -> None:
    setup = replace(new_setup(tmp_path), rules=GAME.new_rules({"bidding": True}))
    typist = Typist(setup, 1, ["?", "h", "5", "3"])
    assert typist.terminal.play(3).deals == 1
    heading = typist.shown.index("Deal 1 (seed 3): the auction")
    assert typist.shown[heading + 1].startswith("  highest bid")
    assert any("Each has one" in line for line in typist.shown[heading:])
    assert "  a scripted agent bids 3" in typist.shown
    assert "  '5' is not a bid: type 1, 2, 3 or p" in typist.shown
    assert "  you: bids 3" in typist.shown
    assert "You are landlord; you play against both peasants." in typist.shown
    (record,) = GAME.read_records(tmp_path / "deals.jsonl")
    assert record.bids == (("landlord", 3),)
    assert record.players == ("Anna", "rule", "rule")


def test_a_bid_below_the_highest_is_refused_and_the_place_moves_on(tmp_path: Path) -> None:
    setup = replace(new_setup(tmp_path, seat=2), rules=GAME.new_rules({"bidding": True}))
    seed = next(seed for seed in range(1000) if bids_before(seed) == [2, 0])
    typist = Typist(setup, 2, ["1", "p"])
    typist.terminal.play(seed)
    assert "  the bid is 1: pass, or bid 3" in typist.shown
    assert "You are landlord_up; you and landlord_down play against the landlord." in typist.shown
    second = typist.shown.index(f"Deal 2 (seed {seed + 1}): the auction")
    assert typist.shown[second + 1].startswith("  highest bid      none"), "it bids first in the second deal"


def bids_before(seed: int) -> list[int]:
    """Return the scripted bids of the first two places."""
    auction = GAME.new_auction(GAME.new_rules({"bidding": True}), seed)
    assert auction is not None
    made = []
    while auction.place in (0, 1) and auction.num_deals == 1:
        made.append(auction.scripted_bid())
        auction.bid(made[-1])
    return made
