"""``suphx play`` in lines of text: a person in the terminal, with an agent at all other seats, deal after deal.

>>> TextPlay(setup, print, input).play(first_seed=1)  # until the person types quit
TextPlayResult(deals=3, won=2)
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from suphx.games.game import Agent, Auction, Game, GameText, PlayedGame
from suphx.kernel.record import I32
from suphx.selfplay.agents.opinion import candidate_opinions

_SHOWN_VALUES = 5
_WIDTH = 76
_COMMANDS = "Type h to see what the agent would do, l for the legal moves, ? for this help, quit to leave."
_ONLY = np.zeros(1, np.int64)
"""The only table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPlaySetup:
    """Who plays what, and where the records go."""

    game: Game
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


@dataclass(frozen=True, slots=True)
class TextPlayResult:
    """How often the person won."""

    deals: int
    won: int


class _LeftError(Exception):
    """The person has left."""


class TextPlay:
    """Plays deals of a game that has only rules and agents: moves are typed as its text reads them, or as numbers.

    Consumes: lines that the person types. Produces: lines on the screen, and the file of records after each deal.
    Waits for: ``read`` on the person's turn.
    """

    def __init__(self, setup: TextPlaySetup, show: Callable[[str], None], read: Callable[[str], str]) -> None:
        """``show`` prints a line; ``read`` prints a prompt and returns what is typed, EOFError at the end of input."""
        self._setup = setup
        self._show = show
        self._read = read
        self._own: Any = setup.game.text
        self._tables: Any = setup.game.open_tables(1, setup.rules)
        self._seat = setup.seat
        """Of the person in this deal."""
        self._records: list[Any] = []
        self._won = 0
        self._is_playing = False
        self._is_saved = True

    def play(self, first_seed: int) -> TextPlayResult:
        """Play the deals ``first_seed``, ``first_seed`` + 1, … until the person leaves, also by Ctrl-C.

        A deal that is left is not saved. OSError if the records can still not be written at the end.
        """
        self._help()
        try:
            for seed in count(first_seed):
                self._deal(seed)
                typed = "?"
                while typed not in ("", "y", "yes"):  # another deal?
                    typed = self._ask("Enter for the next deal, or quit > ").lower()
                    if typed in ("q", "n", "no"):
                        raise _LeftError
        except (_LeftError, KeyboardInterrupt):
            if self._is_playing:
                self._show("The deal that was left is not saved.")
        if not self._is_saved:
            self._save()
        return TextPlayResult(len(self._records), self._won)

    def _deal(self, seed: int) -> None:
        """Play one deal, show how it ended, and save its record."""
        game, tables = self._setup.game, self._tables
        self._is_playing = True
        self._show("")
        self._begin(seed, f"Deal {len(self._records) + 1} (seed {seed}): ")
        while tables.waiting().size:
            seat = int(tables.actors(_ONLY)[0])
            if seat == self._seat:
                self._person()
            else:
                move = int(self._setup.player.act(tables.state, _ONLY)[0])
                self._say_move(game.seat_names[seat], move)
                tables.advance(_ONLY, np.array([move]))
        tables.take_ended()
        names = [self._setup.name if seat == self._seat else self._setup.agent for seat in range(len(game.seat_names))]
        played = tables.take_game(0, str(seed), names)
        self._is_playing = False
        self._records.append(played.record)
        scoring = game.scoring
        places, _ = scoring.settle(np.array([played.points]), [()])
        has_won = bool(places[0, getattr(scoring, "side_of_seat", scoring.party_seats)[self._seat]] == 1)
        self._won += has_won
        self._show("")
        self._show_all(self._end_lines(played))
        self._show(f"You {'win' if has_won else 'lose'}: {self._won} of {len(self._records)} deals won so far.")
        try:
            self._save()
        except OSError as error:
            self._show(f"  The record of this deal is not saved yet: {error}")

    def _save(self) -> None:
        """Write the records of all deals."""
        self._is_saved = False
        self._setup.records.parent.mkdir(parents=True, exist_ok=True)
        self._setup.game.write_records(self._records, self._setup.records)
        self._is_saved = True

    def _ask(self, prompt: str) -> str:
        """Return what is typed; _LeftError if the person leaves."""
        try:
            typed = self._read(prompt).strip()
        except EOFError:
            raise _LeftError from None
        if typed.lower() == "quit":
            raise _LeftError
        return typed

    def _show_all(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._show(f"  {line}")

    def _say_move(self, who: str, move: int) -> None:
        self._show(f"  {who}: {self._text(move)}")

    # what a game of candidate moves does in another way

    def _help(self) -> None:
        numbers = (f"Moves are numbers from 0 to {self._tables.num_moves - 1}.",)
        self._show_all((*(self._own.help if self._own else numbers), "Type ? for this help, quit to leave."))

    def _begin(self, seed: int, heading: str) -> None:
        """Deal."""
        self._show(f"{heading}you are {self._setup.game.seat_names[self._seat]}.")
        self._tables.begin(_ONLY, [seed])

    def _person(self) -> None:
        """Ask until the person has made a move."""
        if self._own:
            self._show("")
            self._show_all(self._own.seat_lines(self._tables, 0, self._seat))
        while True:
            typed = self._ask("move, ? or quit > ")
            if typed.lower() == "q":
                raise _LeftError
            if typed in ("", "?"):
                self._help()
                continue
            try:
                move = self._read_move(typed)
                self._tables.advance(_ONLY, np.array([move]))
            except ValueError as error:
                self._show(f"  {error}")
            else:
                self._say_move(self._setup.game.seat_names[self._seat], move)
                return

    def _read_move(self, typed: str) -> int:
        if self._own:
            return int(self._own.read_move(self._setup.rules, typed))
        if not typed.isdecimal() or int(typed) >= self._tables.num_moves:
            raise ValueError(f"{typed!r} is not a move: use 0 to {self._tables.num_moves - 1}")
        return int(typed)

    def _end_lines(self, played: PlayedGame) -> list[str]:
        points = zip(self._setup.game.seat_names, played.points, strict=True)
        lines = self._own.end_lines(self._tables, 0) if self._own else []
        return [*lines, ", ".join(f"{name}: {value:g}" for name, value in points)]

    def _text(self, move: int) -> str:
        return self._own.move_text(self._setup.rules, move) if self._own else str(move)


class CandidateTextPlay(TextPlay):
    """Plays deals of a game whose seats choose among candidate moves, by the game's own text, perhaps with auctions."""

    _own: GameText

    def _help(self) -> None:
        self._show_all((*self._own.help, _COMMANDS))

    def _begin(self, seed: int, heading: str) -> None:
        """Deal, after the auction if there is one; show the table if another seat begins."""
        game: Any = self._setup.game
        auction: Auction | None = game.new_auction(self._setup.rules, seed)
        if auction is not None:
            if not self._records:
                self._auction_help()
            self._show(heading + "the auction")
            self._seat = self._hold(auction)
        role = f"you are {self._setup.game.seat_names[self._seat]}; {self._own.seat_note(self._seat)}."
        if auction is None:
            self._show(heading + role)
            self._tables.begin(_ONLY, [seed])
        else:
            self._show(role.capitalize())
            self._tables.start(0, auction)
        if int(self._tables.actors(_ONLY)[0]) != self._seat:
            self._show_table()

    def _hold(self, auction: Auction) -> int:
        """Hold the auction with the person and scripted bids for all others; return the person's seat after it."""
        num_places, num_deals = len(self._setup.game.seat_names), auction.num_deals
        own = (self._setup.seat + len(self._records)) % num_places
        names = {0: "you", 1: "the player after you", num_places - 1: "the player before you"}
        while (place := auction.place) is not None:
            bid = self._ask_bid(auction, own) if place == own else auction.scripted_bid()
            auction.bid(bid)
            turns = (place - own) % num_places
            who = names.get(turns, f"the player {turns} places after you")
            self._show(f"  {who}: {self._own.bid_text(bid)}")
            if auction.num_deals > num_deals:
                num_deals = auction.num_deals
                self._show("  all have passed: the cards are dealt again")
        return auction.seat_of(own)

    def _ask_bid(self, auction: Auction, own: int) -> int:
        """Ask until the person has made a bid that is possible."""
        self._show_all(self._own.auction_lines(auction, own))
        while True:
            typed = self._ask("bid, p, h, ? or quit > ")
            if typed.lower() == "h":
                self._show(f"  a scripted agent {self._own.bid_text(auction.scripted_bid())}")
            elif typed in ("", "?"):
                self._auction_help()
            else:
                try:
                    bid = self._own.read_bid(typed)
                    auction.check(bid)
                except ValueError as error:
                    self._show(f"  {error}")
                else:
                    return bid

    def _auction_help(self) -> None:
        self._show_all((*self._own.auction_help, "Type h to see what a scripted agent would bid, quit to leave."))

    def _show_table(self) -> None:
        """Show what the person's seat sees."""
        self._show("")
        self._show_all(self._own.seat_lines(self._tables, 0, self._seat))

    def _person(self) -> None:
        """Ask for a move; one without a choice is made at once."""
        legal: I32 = self._tables.legal(_ONLY)[1]
        if len(legal) == 1:
            move = int(legal[0])
            self._say_move("you, without a choice", move)
        else:
            move = self._choose(legal)
        self._tables.advance(_ONLY, np.array([move]))

    def _choose(self, legal: I32) -> int:
        """Ask until the person has named one of the ``legal`` moves."""
        self._show_table()
        while True:
            typed = self._ask("cards, p, h, l, ? or quit > ")
            match typed.lower():
                case "" | "?":
                    self._help()
                case "h":
                    (opinion,) = candidate_opinions(self._tables, self._setup.player)
                    chosen = self._text(int(opinion.candidates[opinion.chosen]))
                    self._show(f"  {self._setup.agent} would play {chosen}")
                    values = np.zeros(0) if opinion.values is None else opinion.values
                    for place in np.argsort(-values, kind="stable")[:_SHOWN_VALUES].tolist():
                        self._show(f"    {values[place]:+.3f}  {self._text(int(opinion.candidates[place]))}")
                case "l":
                    for line in self._own.move_lists(self._setup.rules, legal.tolist()):
                        self._show_all(textwrap.wrap(line, _WIDTH, subsequent_indent="    "))
                case _:
                    try:
                        move = self._own.read_move(self._setup.rules, typed)
                    except ValueError as error:
                        self._show(f"  {error}")
                        continue
                    if move in legal:
                        return move
                    self._show(f"  {self._own.refusal(self._tables, 0, move)}; l lists what is legal")

    def _end_lines(self, played: PlayedGame) -> list[str]:
        return self._own.end_lines(self._tables, 0)
