from __future__ import annotations

from suphx.evaluation.rating.rated_games import RatedGame, game_table

SEATS = ("b", "a", "d", "c")
GAMES = [
    RatedGame(70, SEATS, (2, 1, 4, 3)),
    RatedGame(70, ("a", "d", "c", "b"), (1, 2, 3, 4)),
    RatedGame(30, ("a", "b", "c", "e"), (4, 3, 2, 1)),
]


def test_orders_are_the_agents_from_first_to_fourth() -> None:
    table = game_table([GAMES[0]])
    assert table.agents == ("a", "b", "c", "d")
    assert [table.agents[agent] for agent in table.orders[0]] == ["a", "b", "c", "d"]


def test_a_game_counts_once_in_whatever_order_games_come() -> None:
    table, again = game_table(GAMES), game_table([*GAMES[::-1], *GAMES])
    assert (again.orders == table.orders).all()
    assert (again.walls == table.walls).all()
    assert len(table.orders) == 3


def test_walls_are_counted_once_however_many_games_are_played_on_them() -> None:
    table = game_table(GAMES, agents=["f"])
    assert table.num_walls == 2
    assert table.agents == ("a", "b", "c", "d", "e", "f")
    assert table.games_of().tolist() == [3, 3, 3, 2, 1, 0]
    assert table.walls_of().tolist() == [2, 2, 2, 1, 1, 0]
