# What the layers above see of riichi: they import it from here and from no folder below it (pyproject.toml). A module
# is loaded when one of its names is first used, because numba takes a second to import.

# The table and its rules.
from .table.action import (
    NUM_ACTIONS as NUM_ACTIONS,
    PASS as PASS,
    RON as RON,
    TSUMO as TSUMO,
    TSUMOGIRI as TSUMOGIRI,
    action_name as action_name,
)
from .table.placement import places_of_scores as places_of_scores
from .table.rules import Rules as Rules, tenhou as tenhou
from .table.table import (
    CALLED_FLAG as CALLED_FLAG,
    CLAIM as CLAIM,
    GAME_END as GAME_END,
    KYOKU_END as KYOKU_END,
    RIICHI_FLAG as RIICHI_FLAG,
    ROB_KAN as ROB_KAN,
    TABLE as TABLE,
    TSUMOGIRI_FLAG as TSUMOGIRI_FLAG,
    Table as Table,
)
from .table.tile import (
    NUM_FACES as NUM_FACES,
    NUM_KINDS as NUM_KINDS,
    face_name as face_name,
    kind_of_face as kind_of_face,
)
from .hand.shanten import improving_kinds as improving_kinds, shanten as shanten, waiting_kinds as waiting_kinds
from .hand.suit_table import Suits as Suits, load_suits as load_suits
from .hand.ukeire import count_shanten as count_shanten
from .hand.yaku import score_hand as score_hand
from .engine.hanchan import end_kyoku as end_kyoku
from .engine.simulator import MAX_SEED as MAX_SEED, Simulator as Simulator
from .hidden.determinisation import determinise as determinise

# Game records.
from .records.archive.archive import (
    iter_records as iter_records,
    parse_all as parse_all,
    record_files as record_files,
)
from .records.archive.record_stream import ReadShare as ReadShare
from .records.archive.quarantine import Quarantine as Quarantine, QuarantinedRecord as QuarantinedRecord
from .records.archive.record_search import find_record as find_record
from .records.archive.record_writer import (
    RecordForm as RecordForm,
    file_forms as file_forms,
    write_records as write_records,
)
from .records.archive.store import KyokuStore as KyokuStore, StoreWriter as StoreWriter, write_store as write_store
from .records.archive.verify import VerifyReport as VerifyReport, verify_records as verify_records
from .records.log.draw_outcomes import (
    NUM_HAND_STATES as NUM_HAND_STATES,
    DrawColumn as DrawColumn,
    DrawOutcomes as DrawOutcomes,
)
from .records.log.game_recorder import GameRecorder as GameRecorder
from .records.log.game_statistics import (
    STATISTICS_COLUMNS as STATISTICS_COLUMNS,
    STATISTICS_RATIOS as STATISTICS_RATIOS,
    game_row as game_row,
)
from .records.view.text import kyoku_name as kyoku_name
from .records.view.text import DRAW_NAMES as DRAW_NAMES
from .records.view.text import seat_text as seat_text
from .records.log.gamelog import ACTION_BITS as ACTION_BITS, GameLog as GameLog
from .records.log.record_error import (
    ILLEGAL_RECORD as ILLEGAL_RECORD,
    DUPLICATE_RECORD as DUPLICATE_RECORD,
    RECORD_REMEDIES as RECORD_REMEDIES,
)
from .records.log.replay import Replayer as Replayer, is_result_whole as is_result_whole
from .records.view.sample_game import sample_game as sample_game
from .records.view.recorded_decisions import (
    NO_ACTION as NO_ACTION,
    Opinions as Opinions,
    RecordedDecisions as RecordedDecisions,
    recorded_decisions as recorded_decisions,
)
from .records.view.text import has_namesake as has_namesake
from .records.view.viewer_game import viewer_game as viewer_game
from .records.mjai.mjai_action import action_of_reply as action_of_reply
from .records.mjai.mjai_action import reply_of_action as reply_of_action
from .records.mjai.mjai_table import MjaiTable as MjaiTable
from .records.mjai.mjai_writer import (
    kyoku_events as kyoku_events,
    refuse_untold_tables as refuse_untold_tables,
    running_kyoku_events as running_kyoku_events,
    seen_by as seen_by,
    start_event as start_event,
)
from .records.mjlog.mjlog_writer import refuse_rules_of_records as refuse_rules_of_records

# What nets see and answer: decision kinds, planes, encoders, samples.
from .features.batch import (
    encode_batch as encode_batch,
    encode_oracle_batch as encode_oracle_batch,
    encode_observations as encode_observations,
)
from .features.decision_planes import decision_layout as decision_layout
from .features.encoder import Encoder as Encoder, find_encoder as find_encoder
from .features.head import (
    DISCARD_HEAD as DISCARD_HEAD,
    HEAD_NAMES as HEAD_NAMES,
    KONG_HEAD as KONG_HEAD,
    NUM_CHOICES as NUM_CHOICES,
    NUM_OUTPUTS as NUM_OUTPUTS,
    PLAYOUT_HEADS as PLAYOUT_HEADS,
    RIICHI_HEAD as RIICHI_HEAD,
    check_heads as check_heads,
    head_index as head_index,
)
from .features.layout.planes import (
    ALL_KINDS as ALL_KINDS,
    PlaneLayout as PlaneLayout,
    NUM_COLUMNS as NUM_COLUMNS,
    count_bits as count_bits,
    get_kinds as get_kinds,
    observation_bytes as observation_bytes,
    unpack_planes as unpack_planes,
)
from .features.lookahead.lookup import load_lookup as load_lookup
from .features.oracle import ORACLE as ORACLE
from .features.oracle_observation import seen_planes as seen_planes
from .features.samples import BadDealError as BadDealError, Samples as Samples, encode_kyokus as encode_kyokus
from .features.game_progress import (
    NUM_KYOKU as NUM_KYOKU,
    NUM_GAME_PROGRESS_INPUTS as NUM_GAME_PROGRESS_INPUTS,
    GAME_PROGRESS_VERSION as GAME_PROGRESS_VERSION,
    GameProgress as GameProgress,
    encode_game_progress as encode_game_progress,
)
from .features.suit_permutation import SUIT_ORDERS as SUIT_ORDERS, permute_suits as permute_suits

# Agents and the order of a seat's decisions (Figure 1), in matches and in self-play.
from .bots.scripted_play import (
    choose_scripted as choose_scripted,
)
from .bots.random_play import play_random as play_random
from .bots.seat_play import (
    EVERY_SEAT as EVERY_SEAT,
    NO_SCRIPT as NO_SCRIPT,
    advance_tables as advance_tables,
    fill_planes as fill_planes,
    play_to_seats as play_to_seats,
    see_tables as see_tables,
)
from .selfplay.deal_in import COST_POINTS as COST_POINTS
from .selfplay.decision import (
    HeadOutputs as HeadOutputs,
    decide as decide,
    discard_outputs as discard_outputs,
)
from .selfplay.kyoku_ends import KyokuEnds as KyokuEnds
from .selfplay.move_probabilities import move_probabilities as move_probabilities
from .selfplay.play_to_end import play_to_end as play_to_end
from .selfplay.playout import (
    BranchTables as BranchTables,
    NO_BRANCH as NO_BRANCH,
    play_out_scripted as play_out_scripted,
    play_out_with_nets as play_out_with_nets,
)
from .selfplay.table_group import TableGroup as TableGroup

# A person at the table.
from .play import GameSession as GameSession, RefusedMoveError as RefusedMoveError
from .play import move_hint as move_hint

# What benchmarks measure with.
from .bench.observed_position import (
    observed_tables as observed_tables,
    observed_candidates as observed_candidates,
    recorded_positions as recorded_positions,
)
from .bench.changed_habit import HABITS as HABITS, Habit as Habit
from .bench.ordinal_wall import OrdinalWallSimulator as OrdinalWallSimulator
from .bench.peer import (
    HandPeer as HandPeer,
    RiichiEnvPeer as RiichiEnvPeer,
    PeerScore as PeerScore,
    load_hand_peer as load_hand_peer,
)
from .bench.winning_hand import (
    WonHand as WonHand,
    collect_wins as collect_wins,
    describe_win as describe_win,
    score_wins as score_wins,
)
