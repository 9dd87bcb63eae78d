"""Dazhong as the layers above see it: the game of the paper on prior knowledge and Monte Carlo."""

from __future__ import annotations

from suphx.games.dazhong.learning import LEARNING
from suphx.games.dazhong.names import AGENTS, DECISIONS
from suphx.games.dazhong.records import FILES
from suphx.games.dazhong.table import Rules
from suphx.games.dazhong.tables import DazhongScoring, DazhongTables, ScriptedAgent, replay
from suphx.games.dazhong.text import DazhongText
from suphx.games.mahjong.hand_game import HandGame

GAME = HandGame(
    name="dazhong",
    title="Dazhong mahjong",
    agents=AGENTS,
    decisions=DECISIONS,
    learning=LEARNING,
    scoring=DazhongScoring(),
    text=DazhongText(),
    rules=Rules,
    open_tables=DazhongTables,
    scripted_agent=ScriptedAgent,
    files=FILES,
    replay=replay,
)
