"""MCR as the layers above see it: Chinese Official mahjong in the duplicate format, single games."""

from __future__ import annotations

from suphx.games.mahjong.hand_game import HandGame
from suphx.games.mcr.bot import BOT
from suphx.games.mcr.learning import LEARNING
from suphx.games.mcr.names import AGENTS, DECISIONS
from suphx.games.mcr.records import FILES, replay
from suphx.games.mcr.table import Rules
from suphx.games.mcr.tables import McrScoring, McrTables, ScriptedAgent
from suphx.games.mcr.text import McrText

GAME = HandGame(
    name="mcr",
    title="Chinese Official mahjong",
    agents=AGENTS,
    decisions=DECISIONS,
    learning=LEARNING,
    scoring=McrScoring(),
    text=McrText(),
    bot=BOT,
    rules=Rules,
    open_tables=McrTables,
    scripted_agent=ScriptedAgent,
    files=FILES,
    replay=replay,
)
