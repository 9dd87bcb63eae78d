"""``suphx play`` for a game of two sides: a person in the terminal, with an agent at all other seats.

>>> TextPlay(setup, print, input).play(first_seed=1)  # until the person types quit
TextPlayResult(deals=3, won=2)
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from suphx.atomic_file import write_atomically
from suphx.games.game import Agent, Auction, CandidateGame
from suphx.kernel.record import I32
from suphx.selfplay.agents.opinion import candidate_opinions

_SHOWN_VALUES = 5
_WIDTH = 76
_COMMANDS = "Type h to see what the agent would do, l for the legal moves, ? for this help, quit to leave."


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPlaySetup:
    """Who plays what, and where the records go."""

    game: CandidateGame
    rules: Any
    player: Agent
    """At all seats but the person's."""
    agent: str
    """Its name."""
    seat: int
    """Of the person; with auctions, its place in the first one, and the next place in the next one."""
    name: str
    """Of the person."""
    records: Path
    """The file of records: all finished deals, written again after each."""

    def players(self, own: int) -> list[str]:
        """Return who plays, by seat, if the person has the seat ``own``."""
        return [self.name if seat == own else self.agent for seat in range(len(self.game.seat_names))]


@dataclass(frozen=True, slots=True)
class TextPlayResult:
    """How often the person won."""

    deals: int
    won: int


class _LeftError(Exception):
    """The person has left."""


class TextPlay:
    """Plays deals with a person, who makes the moves of one seat; the agent makes the others.

    Consumes: lines that the person types. Produces: lines on the screen. Waits for: ``read`` on the person's turn.
    """

    def __init__(self, setup: TextPlaySetup, show: Callable[[str], None], read: Callable[[str], str]) -> None:
        """``show`` prints a line; ``read`` prints a prompt and returns what is typed, EOFError at the end of input."""
        self._setup = setup
        self._game = setup.game
        self._show = show
        self._read = read
        self._tables = self._game.open_tables(1, setup.rules)
        self._seat = setup.seat
        self._lines: list[str] = []
        self._won = 0
        self._is_dealt = self._is_bidding = False
        self._is_saved = True

    def play(self, first_seed: int) -> TextPlayResult:
        """Play the deals ``first_seed``, ``first_seed`` + 1, … until the person leaves, also by Ctrl-C.

        A deal that is left is not saved. OSError if the records can still not be written at the end.
        """
        self._help()
        if self._game.new_auction(self._setup.rules, first_seed) is not None:
            self._auction_help()
        try:
            for seed in count(first_seed):
                self._deal(seed)
                if not self._wants_another():
                    break
        except (_LeftError, KeyboardInterrupt):
            if self._is_dealt or self._is_bidding:
                self._show("The deal that was left is not saved.")
        if not self._is_saved:
            self._save()
        return TextPlayResult(len(self._lines), self._won)

    def _play(self) -> None:
        """Make moves until the deal has ended."""
        only = np.zeros(1, np.int64)
        while self._tables.waiting().size:
            seat = int(self._tables.actors(only)[0])
            if not self._is_dealt and seat != self._seat:
                self._show_table()
            self._is_dealt = True
            if seat == self._seat:
                move = self._person(self._tables.legal(only)[1])
            else:
                move = int(self._setup.player.act(self._tables.state, only)[0])
                self._say_move(self._game.seat_names[seat], move)
            self._tables.advance(only, np.array([move]))

    def _deal(self, seed: int) -> None:
        """Play one deal, show how it ended, and save its record."""
        setup, game = self._setup, self._game
        auction = game.new_auction(setup.rules, seed)
        heading = f"Deal {len(self._lines) + 1} (seed {seed}): "
        self._show("")
        if auction is None:
            self._show(heading + self._role())
            self._tables.begin(np.zeros(1, np.int64), [seed])
        else:
            self._show(heading + "the auction")
            self._seat = self._hold(auction)
            self._show(self._role().capitalize())
            self._tables.start(0, auction)
        self._play()
        worth = self._tables.scores()[0, self._seat]
        self._is_dealt = False
        self._lines.append(game.text.record_line(self._tables, 0, setup.players(self._seat)))
        self._won += bool(worth > 0)
        self._show("")
        for line in game.text.end_lines(self._tables, 0):
            self._show(f"  {line}")
        self._show(f"You {'win' if worth > 0 else 'lose'}: {self._won} of {len(self._lines)} deals won so far.")
        try:
            self._save()
        except OSError as error:
            self._show(f"  The record of this deal is not saved yet: {error}")

    def _role(self) -> str:
        return f"you are {self._game.seat_names[self._seat]}; {self._game.text.seat_note(self._seat)}."

    def _hold(self, auction: Auction) -> int:
        """Hold the auction with the person and scripted bids for all others; return the person's seat after it."""
        text, num_places, num_deals = self._game.text, len(self._game.seat_names), auction.num_deals
        own = (self._setup.seat + len(self._lines)) % num_places
        self._is_bidding = True
        while (place := auction.place) is not None:
            bid = self._ask_bid(auction, own) if place == own else auction.scripted_bid()
            auction.bid(bid)
            self._show(f"  {_who(place, own, num_places)}: {text.bid_text(bid)}")
            if auction.num_deals > num_deals:
                num_deals = auction.num_deals
                self._show("  all have passed: the cards are dealt again")
        self._is_bidding = False
        return auction.seat_of(own)

    def _ask_bid(self, auction: Auction, own: int) -> int:
        """Ask until the person has made a bid that is possible."""
        text = self._game.text
        for line in text.auction_lines(auction, own):
            self._show(f"  {line}")
        while True:
            typed = self._ask("bid, p, h, ? or quit > ")
            if typed is None:
                raise _LeftError
            if typed.lower() == "h":
                self._show(f"  a scripted agent {text.bid_text(auction.scripted_bid())}")
                continue
            if typed in ("", "?"):
                self._auction_help()
                continue
            try:
                bid = text.read_bid(typed)
                auction.check(bid)
            except ValueError as error:
                self._show(f"  {error}")
                continue
            return bid

    def _auction_help(self) -> None:
        for line in (*self._game.text.auction_help, "Type h to see what a scripted agent would bid, quit to leave."):
            self._show(f"  {line}")

    def _save(self) -> None:
        """Write the records of all deals."""
        self._is_saved = False
        self._setup.records.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self._setup.records, (f"{line}\n".encode() for line in self._lines))
        self._is_saved = True

    def _wants_another(self) -> bool:
        """Ask whether there is another deal."""
        while True:
            typed = self._ask("Enter for the next deal, or quit > ")
            if typed is None or typed.lower() in ("q", "n", "no"):
                return False
            if typed.lower() in ("", "y", "yes"):
                return True

    def _show_table(self) -> None:
        """Show what the person's seat sees."""
        self._show("")
        for line in self._game.text.seat_lines(self._tables, 0, self._seat):
            self._show(f"  {line}")

    def _person(self, legal: I32) -> int:
        """Ask until the person has named one of the ``legal`` moves; a move without a choice is made at once."""
        if len(legal) == 1:
            self._say_move("you, without a choice", int(legal[0]))
            return int(legal[0])
        self._show_table()
        while True:
            typed = self._ask("cards, p, h, l, ? or quit > ")
            if typed is None:
                raise _LeftError
            move = self._command(typed, legal)
            if move is not None:
                return move

    def _command(self, typed: str, legal: I32) -> int | None:
        """Do what was typed; return a legal move, None if it was something else."""
        match typed.lower():
            case "" | "?":
                self._help()
                return None
            case "h":
                self._hint()
                return None
            case "l":
                self._list(legal)
                return None
        try:
            move = self._game.text.read_move(self._setup.rules, typed)
        except ValueError as error:
            self._show(f"  {error}")
            return None
        if move not in legal:
            self._show(f"  {self._game.text.refusal(self._tables, 0, move)}; l lists what is legal")
            return None
        return move

    def _help(self) -> None:
        for line in (*self._game.text.help, _COMMANDS):
            self._show(f"  {line}")

    def _list(self, legal: I32) -> None:
        for line in self._game.text.move_lists(self._setup.rules, legal.tolist()):
            for part in textwrap.wrap(line, _WIDTH, subsequent_indent="    "):
                self._show(f"  {part}")

    def _hint(self) -> None:
        """Show the agent's move, with the values of the best ones if it has values."""
        (opinion,) = candidate_opinions(self._tables, self._setup.player)
        chosen = self._text(int(opinion.candidates[opinion.chosen]))
        self._show(f"  {self._setup.agent} would play {chosen}")
        if opinion.values is not None:
            best = np.argsort(-opinion.values, kind="stable")[:_SHOWN_VALUES]
            for place in best.tolist():
                self._show(f"    {opinion.values[place]:+.3f}  {self._text(int(opinion.candidates[place]))}")

    def _say_move(self, who: str, move: int) -> None:
        self._show(f"  {who}: {self._text(move)}")

    def _text(self, move: int) -> str:
        return self._game.text.move_text(self._setup.rules, move)

    def _ask(self, prompt: str) -> str | None:
        """Return what is typed, None if the person leaves."""
        try:
            typed = self._read(prompt).strip()
        except EOFError:
            return None
        return None if typed.lower() == "quit" else typed


def _who(place: int, own: int, num_places: int) -> str:
    """Return who bids at a place, as the person at ``own`` would say it."""
    turns = (place - own) % num_places
    names = {0: "you", 1: "the player after you", num_places - 1: "the player before you"}
    return names.get(turns, f"the player {turns} places after you")
