"""The rules that may differ between rooms, as one frozen value of named options; docs/rules.md has them as a table.

>>> rules = replace(tenhou(), kuikae="allowed", max_rons=1)

Kernels see them as one bit set and a few small numbers in every table (``RuleValues``, ``apply_rules``). A bit that is
set is what its name says; choices with three answers take two bits.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np

from suphx.kernel.jit import jit
from suphx.kernel.record import Records, field, record_dtype

# length and end of the game
EXTRA_WIND = 1 << 0
BUST_BELOW_ZERO = 1 << 1
BUST_AT_ZERO = 1 << 2
DEALER_WIN_ENDS_GAME = 1 << 3
TENPAI_ENDS_GAME = 1 << 4
TENPAI_KEEPS_DEALER = 1 << 5
LEFTOVER_STICKS_TO_FIRST = 1 << 6

# calls and draws; the bits below are those of a whole game, which no deal depends on (mjai.py)
OPEN_TANYAO = 1 << 7
NO_KUIKAE_SAME = 1 << 8  # the claimed kind may not be discarded
NO_KUIKAE_ENDS = 1 << 9  # nor the other end of the run
DRAW_BY_NINE_TERMINALS = 1 << 10
DRAW_BY_FOUR_WINDS = 1 << 11
DRAW_BY_FOUR_RIICHI = 1 << 12
DRAW_BY_FOUR_KANS = 1 << 13
NAGASHI_RULE = 1 << 14

# riichi and dora
RIICHI_NEEDS_POINTS = 1 << 15
ANKAN_AFTER_RIICHI = 1 << 16
IPPATSU = 1 << 17
KAN_DORA = 1 << 18
KAN_DORA_AT_ONCE = 1 << 19  # for open and added kans too
URA_DORA = 1 << 20
KAN_URA_DORA = 1 << 21

# wins and points
KOKUSHI_ROBS_CLOSED_KAN = 1 << 22
PAO = 1 << 23
PAO_FOR_WHOLE_HAND = 1 << 24
KIRIAGE_MANGAN = 1 << 25
COUNTED_YAKUMAN = 1 << 26
YAKUMAN_ADD_UP = 1 << 27
DOUBLE_KOKUSHI_13_WAITS = 1 << 28
DOUBLE_SUUANKOU_TANKI = 1 << 29
DOUBLE_JUNSEI_CHUUREN = 1 << 30
DOUBLE_DAISUUSHII = 1 << 31
DOUBLE_WIND_PAIR_4 = 1 << 32
PINFU_TSUMO = 1 << 33
RINSHAN_TSUMO_FU = 1 << 34


class RuleValues:
    """The rules of one table; part of TABLE and of a stored game."""

    rule_flags: int = field("i8")  # the bits above
    target_points: int = field("i4")
    noten_payment: int = field("i2")  # in all, from the noten to the tenpai
    num_winds: int = field("i1")
    red_fives: int = field("i1")  # bit set by suit: 1 = 5m, 2 = 5p, 4 = 5s
    max_rons: int = field("i1")
    riichi_min_tiles: int = field("i1")


RULE_VALUES = record_dtype(RuleValues)


@jit
def copy_rules(source: Any, target: Any) -> None:
    """Give ``target`` the rules of ``source``, both records with the fields of RuleValues."""
    target.rule_flags = source.rule_flags
    target.target_points = source.target_points
    target.noten_payment = source.noten_payment
    target.num_winds = source.num_winds
    target.red_fives = source.red_fives
    target.max_rons = source.max_rons
    target.riichi_min_tiles = source.riichi_min_tiles


_SUITS = "mps"
_MAX_POINTS = 1_000_000
"""Of points at the start or as a target: tables count in 32 bits."""


def _option(default: Any, flags: int | dict[Any, int]) -> Any:
    """Declare an option with the bits of each of its values; of a switch the bit that it sets."""
    bits = flags if isinstance(flags, dict) else {True: flags, False: 0}
    return dataclasses.field(default=default, metadata={"bits": bits})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Four-player riichi; the defaults are Tenhou's usual game, ``tenhou()``."""

    # length and end of the game
    num_winds: int = 2
    """Planned rounds: 1 = East only (tonpuu), 2 = East and South (hanchan), at most 4."""
    extra_wind: bool = _option(True, EXTRA_WIND)
    """Without ``target_points`` after the planned rounds the game goes on, one wind at most, until a seat has them."""
    start_points: int = 25_000
    """Points of every seat at the start."""
    target_points: int = 30_000
    """What the first needs to end the game after the planned rounds; without ``extra_wind`` nothing is needed."""
    bust: Literal["below zero", "at zero", "never"] = _option(
        "below zero", {"below zero": BUST_BELOW_ZERO, "at zero": BUST_BELOW_ZERO | BUST_AT_ZERO, "never": 0}
    )
    """When a seat's points end the game at once; "at zero" does so below zero too."""
    dealer_win_ends_game: bool = _option(True, DEALER_WIN_ENDS_GAME)
    """The last dealer ends the game as the leader by winning (agariyame); False: it deals again."""
    tenpai_ends_game: bool = _option(True, TENPAI_ENDS_GAME)
    """The same by being tenpai at a draw (tenpaiyame; on Tenhou not before June 2010)."""
    tenpai_keeps_dealer: bool = _option(True, TENPAI_KEEPS_DEALER)
    """The dealer deals again after a draw when tenpai; False: only after its own win or an abortive draw."""
    leftover_sticks: Literal["first", "lost"] = _option("first", {"first": LEFTOVER_STICKS_TO_FIRST, "lost": 0})
    """Who gets the riichi sticks that are left at the end of the game."""

    # tiles, calls, draws
    red_fives: str = "mps"
    """Suits with one red five (tile ids 16, 52, 88); "" for none."""
    open_tanyao: bool = _option(True, OPEN_TANYAO)
    """All simples counts with an open hand (kuitan)."""
    kuikae: Literal["forbidden", "same tile forbidden", "allowed"] = _option(
        "forbidden", {"forbidden": NO_KUIKAE_SAME | NO_KUIKAE_ENDS, "same tile forbidden": NO_KUIKAE_SAME, "allowed": 0}
    )
    """Discarding, right after a claim, the claimed kind or the other end of its run."""
    nine_terminals_draw: bool = _option(True, DRAW_BY_NINE_TERMINALS)
    """A seat may call off the deal with nine kinds of terminals and honours on its first, uninterrupted turn."""
    four_winds_draw: bool = _option(True, DRAW_BY_FOUR_WINDS)
    """Four equal winds as the first four discards call off the deal."""
    four_riichi_draw: bool = _option(True, DRAW_BY_FOUR_RIICHI)
    """The fourth riichi calls off the deal."""
    four_kans_draw: bool = _option(True, DRAW_BY_FOUR_KANS)
    """Four kans by two or more seats call off the deal; a fifth kan is never allowed."""
    nagashi_mangan: bool = _option(True, NAGASHI_RULE)
    """All own discards terminals and honours, none claimed: a mangan at the exhaustive draw."""
    noten_payment: int = 3000
    """Points that the noten pay the tenpai in all, at an exhaustive draw."""

    # riichi and dora
    riichi_needs_points: bool = _option(True, RIICHI_NEEDS_POINTS)
    """Riichi needs 1,000 points; False: the stick may leave a seat below zero."""
    riichi_min_tiles: int = 4
    """Tiles that the live wall must still have for riichi."""
    ankan_after_riichi: Literal["same waits", "never"] = _option(
        "same waits", {"same waits": ANKAN_AFTER_RIICHI, "never": 0}
    )
    """A closed kan of the tile just drawn after riichi."""
    ippatsu: bool = _option(True, IPPATSU)
    """A win within one uninterrupted turn of riichi is worth a han more."""
    kan_dora: Literal["open kans later", "at once", "none"] = _option(
        "open kans later", {"open kans later": KAN_DORA, "at once": KAN_DORA | KAN_DORA_AT_ONCE, "none": 0}
    )
    """When a kan turns over its dora: "open kans later" = a closed kan at once, others with the next discard or kan."""
    ura_dora: bool = _option(True, URA_DORA)
    """The indicators' lower tiles count for riichi."""
    kan_ura_dora: bool = _option(True, KAN_URA_DORA)
    """Those of kan dora too."""

    # wins
    max_rons: int = 2
    """1 = only the first in turn order wins (head bump); 2 = two win, three call off the deal; 3 = all three win."""
    kokushi_robs_closed_kan: bool = _option(False, KOKUSHI_ROBS_CLOSED_KAN)
    """Thirteen orphans may rob a closed kan."""
    pao: Literal["whole hand", "its yakuman", "none"] = _option(
        "whole hand", {"whole hand": PAO | PAO_FOR_WHOLE_HAND, "its yakuman": PAO, "none": 0}
    )
    """What the feeder of big three dragons or big four winds answers for when yakuman are added up."""

    # points
    kiriage_mangan: bool = _option(False, KIRIAGE_MANGAN)
    """4 han 30 fu and 3 han 60 fu count as mangan."""
    counted_yakuman: bool = _option(True, COUNTED_YAKUMAN)
    """13 han count as a yakuman; False: as sanbaiman."""
    yakuman_add_up: bool = _option(True, YAKUMAN_ADD_UP)
    """Several yakuman in one hand are all paid; False: only the greatest."""
    double_kokushi_13_waits: bool = _option(False, DOUBLE_KOKUSHI_13_WAITS)
    """Thirteen orphans with thirteen waits are two yakuman."""
    double_suuankou_tanki: bool = _option(False, DOUBLE_SUUANKOU_TANKI)
    """Four concealed triplets completed by the pair are two yakuman."""
    double_junsei_chuuren: bool = _option(False, DOUBLE_JUNSEI_CHUUREN)
    """Nine gates with nine waits are two yakuman."""
    double_daisuushii: bool = _option(False, DOUBLE_DAISUUSHII)
    """Big four winds are two yakuman."""
    double_wind_pair_fu: Literal[4, 2] = _option(4, {4: DOUBLE_WIND_PAIR_4, 2: 0})
    """Fu of a pair that is seat wind and round wind."""
    pinfu_tsumo: bool = _option(True, PINFU_TSUMO)
    """Pinfu counts with a tsumo (20 fu); False: the tsumo's 2 fu make it no pinfu (30 fu)."""
    rinshan_tsumo_fu: bool = _option(True, RINSHAN_TSUMO_FU)
    """A win by a kan's rinshan tile has the 2 fu of a tsumo."""

    def __post_init__(self) -> None:
        for option in fields(self):
            name, value, bits = option.name, getattr(self, option.name), option.metadata.get("bits")
            if bits and value not in list(bits):
                raise ValueError(f"{name} is {value!r}: use one of {', '.join(map(repr, bits))}")
            is_number = isinstance(value, int | np.integer) and abs(int(value)) <= _MAX_POINTS
            if not bits and name != "red_fives" and not is_number:
                raise ValueError(f"{name} is {value!r}: use an integer between -{_MAX_POINTS:,} and {_MAX_POINTS:,}")
        if not 1 <= self.num_winds <= 4 - self.extra_wind:
            raise ValueError(
                f"num_winds is {self.num_winds}: use 1 (East only) to {4 - self.extra_wind}"
                + (" (the extra wind must be one of the four)" if self.extra_wind else "")
            )
        if self.start_points <= 0 or self.start_points % 100:
            raise ValueError(f"start_points is {self.start_points}: use a positive multiple of 100")
        if self.target_points % 100:
            raise ValueError(f"target_points is {self.target_points}: use a multiple of 100")
        if self.red_fives not in _RED_BITS:
            raise ValueError(f"red_fives is {self.red_fives!r}: name each suit with a red five once, in the order mps")
        if not 0 <= self.noten_payment <= 30_000 or self.noten_payment % 600:
            raise ValueError(f"noten_payment is {self.noten_payment}: use a multiple of 600 in 0 … 30,000")
        if not 0 <= self.riichi_min_tiles <= 69:
            raise ValueError(f"riichi_min_tiles is {self.riichi_min_tiles}: use 0 … 69")
        if self.max_rons not in (1, 2, 3):
            raise ValueError(f"max_rons is {self.max_rons}: use 1 (head bump), 2 or 3")

    @property
    def red_bits(self) -> int:
        """The suits with a red five as a bit set: 1 = 5m, 2 = 5p, 4 = 5s."""
        return _RED_BITS[self.red_fives]


_RED_BITS = {"".join(suit for i, suit in enumerate(_SUITS) if bits >> i & 1): bits for bits in range(1 << len(_SUITS))}


def rule_flags(rules: Rules) -> int:
    """Return the bits that the values of all options set."""
    options = [option for option in fields(rules) if option.metadata]
    return sum(option.metadata["bits"][getattr(rules, option.name)] for option in options)


def apply_rules(records: Records | np.void, rules: Rules) -> None:
    """Write the rules into one record or all of an array that have the fields of RuleValues: tables, stored games."""
    records["rule_flags"] = rule_flags(rules)
    records["red_fives"] = rules.red_bits
    for name in ("target_points", "noten_payment", "num_winds", "max_rons", "riichi_min_tiles"):
        records[name] = getattr(rules, name)


class UntoldRulesError(ValueError):
    """A record's format has no words for the rules of a game."""


def refuse_untold_rules(rules: Rules, read_back: Rules, subject: str, remedy: str) -> None:
    """Raise UntoldRulesError if a game of ``rules`` would be read from its record (mjlog, mjai) as ``read_back``.

    ``subject`` and ``remedy``: the beginning and the end of its message.
    """
    untold = [
        f"{field.name} = {getattr(rules, field.name)!r}"
        for field in fields(Rules)
        if getattr(rules, field.name) != getattr(read_back, field.name)
    ]
    if untold:
        raise UntoldRulesError(f"{subject} {', '.join(untold)}, which its record cannot say: {remedy}")


def refuse_untold_game(rules: Rules, read_back: Rules, game_id: str) -> None:
    """Raise UntoldRulesError as ``refuse_untold_rules``, for a game that is written."""
    refuse_untold_rules(rules, read_back, f"game {game_id} was played with", "keep its GameLog, such as with pickle")


def tenhou() -> Rules:
    """Return Tenhou's usual game: hanchan, 25,000 / 30,000, open tanyao, red fives."""
    return Rules()


def tenhou_no_red() -> Rules:
    """Return Tenhou's game without red fives."""
    return Rules(red_fives="")


def tonpuu() -> Rules:
    """Return Tenhou's East-only game."""
    return Rules(num_winds=1)


def mahjong_soul() -> Rules:
    """Return Mahjong Soul's four-player ranked hanchan, the options of riichienv's ``GameRule.default_mjsoul()``."""
    return replace(
        tenhou(),
        max_rons=3,
        kokushi_robs_closed_kan=True,
        pao="its yakuman",
        double_kokushi_13_waits=True,
        double_suuankou_tanki=True,
        double_junsei_chuuren=True,
        double_daisuushii=True,
    )
