"""Three whole games that are kept as text: ``make golden`` writes them again, test_golden_game.py compares.

Agents decide by whole numbers, or by a net whose sums are exact in float32: every machine plays the same games.
"""

from __future__ import annotations

from collections.abc import Callable

from suphx.atomic_file import write_atomically
from suphx.games.game import Agent
from suphx.games.riichi.rules import mahjong_soul, tenhou, tenhou_no_red
from suphx.games.riichi.tables import ScriptedAgent
from suphx.selfplay.agents.net_agent import NetAgent
from tests.games.riichi.playthroughs.hasty_agent import HastyAgent
from tests.games.riichi.playthroughs.narrator import tell_game
from tests.repository import GOLDEN
from tests.suphx_pipelines.runs.tile_keeper import keeper

FOLDER = GOLDEN / "games"


def four_hasty_seats() -> str:
    """Tenhou's rules: calls, kans and riichi wherever they are possible."""
    return "\n".join(tell_game([HastyAgent(n) for n in (2, 3, 4, 5)], tenhou(), 49))


def ukeire_against_others() -> str:
    """Mahjong Soul's rules: the shipped agents, of which two play to win, and a hasty one."""
    agents: list[Agent] = [*map(ScriptedAgent, ("ukeire", "tsumogiri", "ukeire")), HastyAgent(2)]
    return "\n".join(tell_game(agents, mahjong_soul(), 79))


def self_play_of_a_net() -> str:
    """Tenhou's rules without red fives: four seats of one small net, through planes, nets and the decision flow.

    Its weights are multiples of a half: no sum is rounded, in whatever order a processor adds.
    """
    net = NetAgent("keeper", keeper(1.0).nets, "mini")
    return "\n".join(tell_game([net] * 4, tenhou_no_red(), 75))


GAMES: tuple[Callable[[], str], ...] = (four_hasty_seats, ukeire_against_others, self_play_of_a_net)


def text_of(game: Callable[[], str]) -> str:
    """Return the text of a game, its docstring first."""
    about = (game.__doc__ or "").strip().splitlines()[0]
    return f"{about}\n{game()}\n"


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in FOLDER.glob("*.txt"):
        path.unlink()
    for game in GAMES:
        write_atomically(FOLDER / f"{game.__name__}.txt", [text_of(game).encode()])


if __name__ == "__main__":
    main()
