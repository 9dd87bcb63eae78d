from __future__ import annotations

import json
import re

import numpy as np

from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.viewer_game import sample_game
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.table import CALLED_FLAG, RIICHI_FLAG
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.rollouts.rollout import play_games
from suphx_pipelines.report.report_riichi_game import match_links, section

NAMES = ("our agent", "ukeire 1", "ukeire 2", "ukeire 3")


def played(num_games: int = 2) -> list[GameLog]:
    seating = np.zeros((num_games, 4), np.int64)
    return list(play_games([load_agent("ukeire")], seating, range(1, num_games + 1), tenhou()))


def test_tiles_scores_and_results_of_played_games_fit_together() -> None:
    deals = []
    for log in played():
        game = sample_game(log, NAMES)
        json.dumps(game, allow_nan=False)
        assert len(game["deals"]) == len(log.kyokus)
        scores = [25_000] * 4
        for deal in game["deals"]:
            assert deal["scores"] == scores
            scores = [score + delta for score, delta in zip(scores, deal["deltas"], strict=True)]
            has_drawn = "nine terminals" in deal["result"]  # declared with 14 tiles in hand
            winners = sum(seat["won_with"] is not None for seat in deal["seats"])
            assert sum(num_tiles(seat) - 13 for seat in deal["seats"]) == winners + has_drawn
        assert scores == game["final_scores"]
        deals += game["deals"]
    seats = [seat for deal in deals for seat in deal["seats"]]
    called = sum(bool(flags & CALLED_FLAG) for seat in seats for _, flags in seat["river"])
    assert called == sum(meld["taken"] is not None for seat in seats for meld in seat["melds"])
    assert all(any(flags & RIICHI_FLAG for _, flags in seat["river"]) for seat in seats if seat["has_riichi"])
    assert sum(" wins by " in deal["result"] for deal in deals) > len(deals) / 2


def num_tiles(seat: dict) -> int:  # type: ignore[type-arg]
    """Return the tiles of a hand, a kan counted as three."""
    return len(seat["hand"]) + 3 * len(seat["melds"]) + (seat["won_with"] is not None)


def test_the_report_draws_every_deal_and_names_the_seats() -> None:
    game = sample_game(played(1)[0], NAMES)
    page = section(game, "game.html")
    assert page.count('<a href="game.html">') == 1
    assert page.count('<details class="deal"') == len(game["deals"])
    assert page.count('<details class="deal" open') == 1
    assert page.count('<div class="seat">') == 4 * len(game["deals"])
    for name in NAMES:
        assert page.count(f"<h4>{name} ") == len(game["deals"])


def test_results_say_where_seats_of_the_same_name_sit() -> None:
    game = sample_game(played(1)[0], ("our agent", *["ukeire"] * 3))
    results = " ".join(deal["result"] for deal in game["deals"])
    assert re.search(r"ukeire \((East|South|West|North)\) wins by", results)
    assert not re.search(r"ukeire(?! \()", results)
    assert "our agent (" not in results


def test_no_game_gives_no_section() -> None:
    assert section({}, "game.html") == ""


def test_the_best_and_the_worst_games_of_the_last_match_are_linked() -> None:
    game = sample_game(played(1)[0], NAMES)
    shown = {
        "opponent": "initial nets",
        "hanchans": 2000,
        "games": [
            {"page": "game_best_1.html", "kind": "best", "places": [1], "points": [63_300]},
            {"page": "game_worst_1.html", "kind": "worst", "places": [3, 4], "points": [9_000, -1_200]},
        ],
    }
    page = section(game, "game.html", shown)
    assert "The best and the worst games of the last match against initial nets (2,000 hanchans)" in page
    assert '<a href="game_best_1.html">One of the best games: 1st with 63,300 points</a>' in page
    assert (
        '<a href="game_worst_1.html">One of the worst games: 3rd with 9,000 points and 4th with −1,200 points' in page
    )
    assert match_links({}) == ""
    named = match_links(shown, has_links=False)
    assert "<a " not in named
    assert "1st with 63,300 points: open game_best_1.html beside this page." in named
