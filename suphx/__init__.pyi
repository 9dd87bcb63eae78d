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
from .games.game import Agent as Agent
from .selfplay.agents.agent import load_agent as load_agent
from .api.agents import PolicyAgent as PolicyAgent

# Game records, tables and features.
from .api.games import load_games as load_games, save_games as save_games, simulate as simulate
from .api.tables import deals_table as deals_table, games_table as games_table, moves_table as moves_table
from .api.games import EncodedDecisions as EncodedDecisions, encode as encode
from .api.tables import review as review

# Matches.
from .api.agents import play_match as play_match
from .evaluation.match import MatchReport as MatchReport
