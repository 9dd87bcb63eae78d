# The public, stable names of the package. Those of suphx.environments in docs/site/reference.rst are stable, too; all
# others may change with any version (CHANGELOG.md).

__version__: str

# The game.
from .games.riichi.records.game_log import GameLog as GameLog
from .games.riichi.rules import Rules as Rules, tenhou as tenhou
from .games.riichi.simulator import Simulator as Simulator
from .games.riichi.table import (
    NUM_ACTIONS as NUM_ACTIONS,
    PASS as PASS,
    RON as RON,
    TSUMO as TSUMO,
    TSUMOGIRI as TSUMOGIRI,
    action_name as action_name,
)

# Agents.
from .selfplay.agents.agent import Agent as Agent, load_agent as load_agent
from .api.policy_agent import PolicyAgent as PolicyAgent

# Game records, tables and features.
from .api.game_list import load_games as load_games, save_games as save_games, simulate as simulate
from .api.game_table import deals_table as deals_table, games_table as games_table, moves_table as moves_table
from .api.encoding import EncodedDecisions as EncodedDecisions, encode as encode
from .api.review import review as review

# Matches.
from .api.match import play_match as play_match
from .evaluation.match import MatchReport as MatchReport
