# What the layers above see of DouDizhu: they import it from here. A module is loaded when one of its names is first
# used, because numba takes a second to import.

# Cards, moves and rules.
from .cards import cards_text as cards_text, parse_cards as parse_cards
from .moves import KIND_NAMES as KIND_NAMES
from .moves import (
    NUM_MOVES as NUM_MOVES,
    Moves as Moves,
    find_move as find_move,
    load_moves as load_moves,
    move_text as move_text,
)
from .engine import Auction as Auction
from .table import Rules as Rules
from .table import scores_of as scores_of
from .engine import Simulator as Simulator
from .table import SEAT_NAMES as SEAT_NAMES, TABLE as TABLE

# Observations, scripted agents, games between players, groups of tables.
from .bots import (
    AGENTS as AGENTS,
    ScriptedPlay as ScriptedPlay,
    choose_scripted as choose_scripted,
    play_scripted as play_scripted,
)
from .features import (
    HISTORY_SHAPE as HISTORY_SHAPE,
    LANDLORD_COLUMNS as LANDLORD_COLUMNS,
    PEASANT_COLUMNS as PEASANT_COLUMNS,
    move_columns as move_columns,
)
from .features import encode_states as encode_states
from .selfplay import (
    DeckResults as DeckResults,
    Player as Player,
    ScriptedPlayer as ScriptedPlayer,
    play_decks as play_decks,
    play_games as play_games,
)
from .selfplay import TableGroup as TableGroup

# Records of games, and hands of the others as a seat may imagine them.
from .hidden import sample_hands as sample_hands
from .records.game_record import (
    GameRecord as GameRecord,
    read_records as read_records,
    record_of as record_of,
    replay as replay,
    write_records as write_records,
)
from .records.game_record import parse_record as parse_record, record_text as record_text
