"""What all games of single hands must do (suphx/games/mahjong/hand_game.py): tables, records, texts, nets, commands."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.experience.observation import Observations, PolicyOutputs
from suphx.games.game import Agent, PlayedGame
from suphx.games.learning import KindOutputs, LearningConfig
from suphx.games.mahjong.hand_game import HandGame
from suphx.games.mahjong.hand_learning import HandLearningTables
from suphx.games.mahjong.viewer import CALLED
from suphx.games.playouts import NO_BRANCH
from suphx.games.registry import game_of_records, load_game
from suphx.kernel.record import I64
from suphx.models.checkpoint import load_checkpoint
from suphx.models.net_config import NetConfig
from suphx.selfplay.agents.net_agent import NetAgent
from suphx.selfplay.rollouts.rollout import play_games
from suphx.training.config import SplitConfig, StreamConfig, SupervisedConfig
from suphx.training.head_data import head_data, recorded_samples
from suphx.training.supervised import HeadTrainer, HeadTraining
from suphx_cli import cli

PLAYERS = ("Anna", "Ben", "Cleo", "Dan")
GOOD_AGENTS = {"dazhong": "fanfou_op", "mcr": "shanten"}
"""Agents that often complete hands, whatever these count."""
RULES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "dazhong": ({}, {"ting": "paper", "winners": "first"}),
    "mcr": ({"minimum_fan": 1}, {"knitted_straight_waits": "2024", "mixed_kongs": False}),
}
"""Rules by which these agents win, and others."""


@pytest.fixture(scope="module", params=RULES)
def game(request: pytest.FixtureRequest) -> HandGame:
    found = load_game(request.param)
    assert isinstance(found, HandGame)
    return found


def play(game: HandGame, agent: str, num_hands: int, rules: Any = None, first_seed: int = 0) -> list[PlayedGame]:
    rules = rules or game.new_rules(RULES[game.name][0])
    tables, player = game.open_tables(num_hands, rules), game.scripted_agent(agent)
    tables.begin(np.arange(num_hands), range(first_seed, first_seed + num_hands))
    while (waiting := tables.waiting()).size:
        tables.advance(waiting, player.act(tables.state, waiting))
    assert (tables.state[game.text.scores].sum(axis=1) == 0).all()
    assert tables.take_ended().tolist() == list(range(num_hands))
    assert not tables.take_ended().size
    return [tables.take_game(index, str(index), PLAYERS) for index in range(num_hands)]


@pytest.fixture(scope="module")
def records(game: HandGame) -> list[Any]:
    """Hands of random moves and of a good agent, and hands by other rules."""
    other = game.new_rules(RULES[game.name][1])
    played = play(game, "random", 12) + play(game, GOOD_AGENTS[game.name], 16, first_seed=25)
    return [each.record for each in played + play(game, "random", 6, other, 50)]


# --- tables and agents


def test_a_hand_does_not_depend_on_how_many_are_played_beside_it(game: HandGame) -> None:
    for agent in game.agents:
        hands = play(game, agent, 6)
        for seed in (0, 4):
            (alone,) = play(game, agent, 1, first_seed=seed)
            assert (alone.record.moves, alone.points) == (hands[seed].record.moves, hands[seed].points)


def test_agents_and_nets_see_nothing_that_is_hidden(game: HandGame) -> None:
    rng, encoder = np.random.default_rng(1), game.learning.encoders[-1]
    for agent in game.agents:
        tables, player = game.open_tables(6, game.new_rules({})), game.scripted_agent(agent)
        tables.begin(np.arange(6), range(6))
        for _ in range(50):
            waiting = tables.waiting()
            moves, hidden = player.act(tables.state, waiting), tables.state.copy()
            for index, seat in zip(waiting.tolist(), tables.actors(waiting).tolist(), strict=True):
                hidden[index]["hand"][[other for other in range(4) if other != seat]] = rng.integers(0, 4, (3, 34))
                hidden[index]["wall"] = rng.permutation(hidden[index]["wall"])
            assert (player.act(hidden, waiting) == moves).all()
            seen, other = (game.learning.observe(state, waiting, encoder) for state in (tables.state, hidden))
            for (_, mine), (_, same) in zip(seen, other, strict=True):
                assert (mine.planes == same.planes).all()
                assert (mine.masks == same.masks).all()
            tables.advance(waiting, moves)


def test_what_a_player_did_is_counted(game: HandGame) -> None:
    scoring, played = game.scoring, play(game, GOOD_AGENTS[game.name], 30)
    counted = [scoring.count(each.record, "Ben", (4, 1, 2, 3)) for each in played]
    sums = dict(zip(scoring.counters, np.array(counted).sum(axis=0).tolist(), strict=True))
    ends = [game.learning.positions(each.record)[-1] for each in played]
    assert (sums["games"], sums["place"], sums["first"]) == (30, 30, 30)
    assert sums[game.text.scores] == sum(int(end[game.text.scores][1]) for end in ends)
    assert sums["wins"] == sum(seat == 1 for end in ends for seat, *_ in game.text.winners(end)) > 0
    assert scoring.count(played[0].record, "Eve", (1, 2, 3, 4)) is None
    assert {name for pair in scoring.ratios.values() for name in pair} <= set(scoring.counters)


def test_what_is_wrong_with_a_call_is_named(game: HandGame) -> None:
    tables = game.open_tables(2, game.new_rules({}))
    tables.begin(np.arange(2), [1, 2])
    wrong = int(np.flatnonzero(tables.state[1]["legal"] == 0)[0])
    legal = [int(np.flatnonzero(row)[0]) for row in tables.state["legal"]]
    for indices, moves, fault in (
        ([0, 1], [legal[0], wrong], "table 1, .* is not legal; legal: "),
        ([0, 0], [legal[0], legal[0]], "named twice"),
        ([2], [0], "no table 2"),
        ([0], [tables.num_moves], "not legal"),
    ):
        before = tables.state.copy()
        with pytest.raises(ValueError, match=fault):
            tables.advance(indices, moves)
        assert (tables.state == before).all()
    with pytest.raises(ValueError, match="seeds are -1"):
        tables.begin([0], [-1])
    with pytest.raises(ValueError, match="'nobody' is not a scripted agent"):
        game.scripted_agent("nobody")


def test_rules_are_read_as_they_were_written_and_wrong_ones_refused(game: HandGame) -> None:
    for values in RULES[game.name]:
        rules = game.new_rules(values)
        assert game.new_rules(game.rules_values(rules)) == rules
    name = next(iter(RULES[game.name][1]))
    with pytest.raises(ValueError, match=f"{name} is 'maybe'"):
        game.new_rules({name: "maybe"})


# --- records


def test_records_are_read_as_they_were_written_and_played_again(
    game: HandGame, records: list[Any], tmp_path: Path
) -> None:
    game.write_records(records, tmp_path / "hands.jsonl")
    assert list(game.read_records(tmp_path / "hands.jsonl")) == records
    usual = [record for record in records if record.rules == game.new_rules({})]
    usual += [play(game, "random", 1, game.new_rules({}))[0].record]
    game.write_records(usual, tmp_path / "hands.txt")
    again = list(game.read_records(tmp_path / "hands.txt"))
    assert [record.moves for record in again] == [record.moves for record in usual]
    game.write_records(again, tmp_path / "again.txt")
    assert (tmp_path / "again.txt").read_bytes() == (tmp_path / "hands.txt").read_bytes()
    assert {game_of_records(path) for path in tmp_path.iterdir()} == {game.name}
    assert len(list(game.read_records(tmp_path))) == len(records) + 2 * len(usual)
    positions = game.learning.positions(records[0])
    assert positions["num_decisions"].tolist() == list(range(len(records[0].moves) + 1))
    assert positions[-1]["moves"][: len(records[0].moves)].tolist() == list(records[0].moves)


def test_parts_of_a_match_are_joined_in_the_order_of_its_walls(
    game: HandGame, records: list[Any], tmp_path: Path
) -> None:
    for number, first in enumerate((1, 11, 2)):
        game.write_records([records[number]], tmp_path / f"walls-{first}-{first}{game.record_suffix}")
    game.join_records(tmp_path)
    game.join_records(tmp_path)
    assert list(game.read_records(tmp_path)) == [records[0], records[2], records[1]]
    assert [path.name for path in tmp_path.iterdir()] == [f"{game.text.word}s.jsonl"]


@pytest.mark.parametrize(
    ("name", "file", "content", "fault"),
    [
        ("dazhong", "a.jsonl", '{"game": "dazhong"}', "hand 1: this is not a hand"),
        ("dazhong", "a.jsonl", "{", "hand 1"),
        ("dazhong", "a.txt", "game: dazhong", "hand 1: this is not a hand"),
        ("mcr", "a.jsonl", '{"game": "mcr"}', "game 1: this is not a game"),
        ("mcr", "a.json", '{"logs": [{"output": {}}]}', "game 1: this is not a log"),
        ("mcr", "a.txt", "Match 1", "game 1: this is not a game"),
        ("mcr", "a.txt", "Wind 0\nPlayer 0 Deal W0", "game 1: this is not a game"),
        ("mcr", "a.txt", "Wind 0\nPlayer 0 Deal W1", "a seat has taken"),
        ("mcr", "a.txt", "Wind 0\nPlayer 5 Deal W1", "is not a line of a game"),
    ],
)
def test_what_cannot_be_read_is_named(name: str, file: str, content: str, fault: str, tmp_path: Path) -> None:
    (tmp_path / file).write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=fault):
        list(load_game(name).read_records(tmp_path))


def test_the_second_record_of_a_file_is_named_if_it_is_wrong(
    game: HandGame, records: list[Any], tmp_path: Path
) -> None:
    for file, wrong in (("a.jsonl", "5"), ("a.txt", "wall: 1m")):
        (hand,) = play(game, "random", 1, game.new_rules({}))
        game.write_records([hand.record], tmp_path / file)
        (tmp_path / file).write_text((tmp_path / file).read_text() + f"\n{wrong}\n")
        with pytest.raises(ValueError, match=f"{file}, {game.text.word} 2: "):
            list(game.read_records(tmp_path / file))


def test_an_illegal_move_of_a_record_is_named(game: HandGame, records: list[Any]) -> None:
    chow = next(move for text, move in game.text.moves.items() if text.startswith("chow"))
    damaged = replace(records[0], moves=(*records[0].moves[:3], chow, *records[0].moves[3:]))
    with pytest.raises(ValueError, match=r"move 4, (East|South|West|North): .* is not legal"):
        game.learning.positions(damaged)
    with pytest.raises(ValueError, match=f"{game.text.word} 7: move 4, "):
        game.viewer_game([damaged], first=7)


# --- what people see


def test_every_move_has_a_text_of_its_own(game: HandGame) -> None:
    rules, moves = game.new_rules({}), game.text.moves
    num_moves = game.open_tables(1, rules).num_moves
    assert len(moves) == len(set(moves.values())) == num_moves - 6, "chows do not begin with 8 or 9"
    for text, move in moves.items():
        assert text == game.text.move_text(rules, move)
        assert move == game.text.read_move(rules, f" {text.upper()}")
    with pytest.raises(ValueError, match="is not a move"):
        game.text.read_move(rules, "8z")
    assert game.text.text_of_move(num_moves) == str(num_moves)


def test_a_seat_sees_its_own_tiles_only(game: HandGame) -> None:
    tables, player = game.open_tables(1, game.new_rules({})), game.scripted_agent("random")
    tables.begin([0], [7])
    while tables.state["num_decisions"][0] < 30 or tables.state["drawn"][0] < 0:
        tables.advance([0], player.act(tables.state, np.zeros(1, np.int64)))
    actor = int(tables.state["actor"][0])
    lines = game.text.seat_lines(tables, 0, actor)
    assert lines[-1].startswith("Your moves: ")
    assert "drawn" in lines[-2]
    tables.state["wall"] = 0
    tables.state["hand"][0, [seat for seat in range(4) if seat != actor]] = 0
    assert game.text.seat_lines(tables, 0, actor) == lines
    other = game.text.seat_lines(tables, 0, (actor + 1) % 4)
    assert not any("moves" in line or "drawn" in line for line in other)
    assert game.text.end_lines(tables, 0) == ["not finished"]


def test_the_page_has_every_tile_at_every_step(game: HandGame, records: list[Any]) -> None:
    shown = game.viewer_game(records, first=3)
    assert [deal["number"] for deal in shown["deals"]] == list(range(3, 3 + len(records)))
    met = {step["kind"] for deal in shown["deals"] for step in deal["steps"]}
    assert met >= {"draw", "discard", "chi", "pon", "minkan", "ankan", "kakan", "end"}
    for record, deal in zip(records, shown["deals"], strict=True):
        last, won = game.learning.positions(record)[-1], deal["result"]["wins"]
        state, num_draws = dict(deal["start"]), 0
        assert deal["players"] == list(PLAYERS)
        for step in deal["steps"]:
            num_draws += step["kind"] == "draw"
            state.update(step["changes"])
            tiles = sum(len(state[f"hand{seat}"]) for seat in range(4))
            tiles += sum(face < CALLED for seat in range(4) for face in state[f"river{seat}"])
            tiles += sum(len(meld["faces"]) for seat in range(4) for meld in state[f"melds{seat}"])
            claimed = len(won) if step["kind"] == "end" and won and won[0]["seat"] != won[0]["loser"] else 0
            assert tiles + len(state["drawn"]) - claimed + state["left"] == len(record.wall)
        assert num_draws == len(record.wall) - 52 - last["wall_left"].sum()
        assert [step["kind"] for step in deal["steps"]].count("end") == 1
        assert state["scores"] == deal["after"] == last[game.text.scores].tolist()
        assert [(win["seat"], win["fan"]) for win in won] == [(seat, fan) for seat, fan, _ in game.text.winners(last)]
        assert state["open"] == [win["seat"] for win in won]
        assert deal["result"]["kind"] == ("win" if won else "empty wall")


# --- nets


def test_a_store_whose_writing_failed_is_none_also_where_one_was(
    game: HandGame, records: list[Any], tmp_path: Path
) -> None:
    samples = recorded_samples(game.name)
    store = samples.write(records[:1], tmp_path)
    assert samples.open(tmp_path).digest == store.digest
    with pytest.raises(ValueError, match="hand 2 of the records"):
        samples.write([records[0], replace(records[1], moves=(game.text.moves["win"],))], tmp_path)
    with pytest.raises(ValueError, match="no stored hands"):
        samples.open(tmp_path)
    with pytest.raises(ValueError, match="no hands"):
        samples.write([], tmp_path)


@pytest.mark.slow
def test_nets_that_imitate_an_agent_win_more_than_random_moves(game: HandGame, tmp_path: Path) -> None:
    rules, learning = game.new_rules(RULES[game.name][0]), game.learning
    encoder = learning.encoders[0]
    teachers = [game.scripted_agent(name) for name in (GOOD_AGENTS[game.name], "random")]
    played = play_games(teachers[:1], np.zeros((300, 4), np.int64), range(300), rules, game=game.name)
    store = recorded_samples(game.name).write(played, tmp_path / "store")
    nets = []
    for kind in game.decisions:
        job = HeadTraining(
            data=head_data(store, kind.number, encoder, SplitConfig(), game=game.name),
            rules_version=learning.rules_version,
            net=NetConfig(size="tiny"),
            config=SupervisedConfig(batch_size=256, max_steps=80, learning_rate=2e-3, threads=1, suit_permutation=True),
            stream=StreamConfig(num_workers=0),
        )
        HeadTrainer(job, tmp_path / kind.name).run()
        layout = learning.layout(encoder, kind.number)
        nets.append(load_checkpoint(tmp_path / kind.name / f"{kind.name}.safetensors", kind, layout)[0])
    agents: list[Agent] = [NetAgent("nets", nets, encoder), teachers[1]]
    ended = play_games(agents, np.array([[0, 1, 0, 1]] * 300), range(500, 800), rules, game=game.name)
    scores = np.array([learning.positions(record)[-1][game.text.scores] for record in ended])
    own = scores[:, ::2].sum(axis=1)
    assert own.mean() > 3 * own.std() / np.sqrt(len(own)), "they have learned to complete hands"


def waiting_tables(game: HandGame, num_steps: int) -> tuple[HandLearningTables, list[Observations]]:
    """Return tables after some random decisions, and what is observed."""
    rng, learning = np.random.default_rng(5), game.learning
    tables = learning.new_learning_tables(LearningConfig(num_tables=24, learned=()), learning.encoders[0], first_seed=3)
    for _ in range(num_steps):
        outputs = []
        for part in tables.observe():
            outputs.append(PolicyOutputs.blank(len(part), 0))
            outputs[-1].actions[:] = (part.masks * rng.random(part.masks.shape)).argmax(axis=1)
        tables.step(outputs)
    return tables, tables.observe()


def played_on(game: HandGame, table: np.void, kind: int, choice: int) -> float:
    """Return the points of the actor if the strongest scripted agent plays on after a choice, one table alone."""
    one = np.zeros(1, np.int64)

    def forward(observations: Observations, indices: I64) -> KindOutputs:
        assert observations.decision == kind
        return np.full(1, choice, np.int16), np.zeros(1, np.float32)

    tables, agent = game.open_tables(1, game.new_rules({})), game.scripted_agent(game.agents[-1])
    tables.state[0], seat = table, table["actor"]
    tables.advance(one, game.learning.decide(tables.state, one, game.learning.encoders[0], forward))
    while tables.waiting().size:
        tables.advance(one, agent.act(tables.state, one))
    return float(game.learning.points(tables.state)[0, seat])


def test_playouts_are_the_hands_that_the_strongest_agent_plays_on(game: HandGame) -> None:
    compared = different = 0
    for num_steps in (5, 20, 35):
        tables, observed = waiting_tables(game, num_steps)
        before = tables.state()["tables"].copy()
        state = before.reshape(-1).view(game.learning.table)
        for number, part in enumerate(observed):
            order = np.argsort(-part.masks.astype(np.int16), axis=1, kind="stable")[:, :3].astype(np.int16)
            choices = np.where(np.take_along_axis(part.masks, order.astype(np.int64), axis=1) == 1, order, NO_BRANCH)
            rows = np.arange(len(part))[::2]
            tried = tables.branch(number, rows, choices[rows], [])
            points, deals = tried.points(), tried.deals()
            assert (points[choices[rows] == NO_BRANCH] == 0).all()
            different += int((points[:, 0] != points[:, 1]).sum())
            for row, deal in enumerate(deals.tolist()):
                (table,) = state[state["seed"] == deal]
                is_pass = game.decisions[part.decision].outputs[int(choices[rows[row], 0])] == "pass"
                for k, choice in enumerate(choices[rows[row]].tolist()):
                    # in an own turn of MCR, pass leaves the decision to another net
                    if choice != NO_BRANCH and not (k == 0 and is_pass and table["actor"] == table["turn"]):
                        assert points[row, k] == played_on(game, table, part.decision, choice)
                        compared += 1
        assert (tables.state()["tables"] == before).all(), "the tables stay as they are"
    assert compared > 100
    assert different > 20


def test_playouts_of_more_orders_have_the_mean_over_them_which_the_table_decides(game: HandGame) -> None:
    tables, observed = waiting_tables(game, 12)
    part = observed[0]
    rows = np.flatnonzero(part.masks.sum(axis=1) > 1)[:1]
    choices = np.flatnonzero(part.masks[rows[0]])[None, :2].astype(np.int16)
    one, several, again = (tables.branch(0, rows, choices, [], num_walls=walls) for walls in (1, 50, 50))
    assert (several.points() == again.points()).all()
    gains, walls = several.gains().reshape(2, 50), several.tables["wall"].reshape(2, 50, -1)
    assert several.points()[0] == pytest.approx(gains.mean(axis=1), rel=1e-5)
    assert gains[:, 0].tolist() == one.gains().tolist()
    assert (walls[0] == walls[1]).all(), "both actions meet the same orders"
    is_undrawn = game.learning.undrawn(one.tables[:1])[0]
    assert is_undrawn.sum() == one.tables["wall_left"][0].sum()
    assert (walls[0, :, ~is_undrawn] == walls[0, 0, ~is_undrawn][:, None]).all()
    assert (np.sort(walls[0]) == np.sort(walls[0, 0])).all()
    assert len(np.unique(walls[0], axis=0)) == 50
    assert len(np.unique(walls[0][:, is_undrawn][:, -1])) > 20, "any undrawn tile may come next"
    with pytest.raises(ValueError, match=r"row 0: one of the choices"):
        tables.branch(0, rows, np.flatnonzero(part.masks[rows[0]] == 0)[None, :1].astype(np.int16), [])


# --- commands


def test_the_commands_compare_agents_and_show_their_hands(
    game: HandGame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hands, page = tmp_path / "hands", tmp_path / "page.html"
    words = ["evaluate", "--game", game.name, "--candidate", GOOD_AGENTS[game.name], "--opponent", "random"]
    words += ["--runs", str(tmp_path), "--json"]
    assert cli.main([*words, "--hanchans", "80", "--keep-games", str(hands)]) == 0
    shown = capsys.readouterr()
    found = json.loads(shown.out.splitlines()[-1])
    assert f"over 80 {game.scoring.games}" in shown.err
    mean = f"average_{game.text.scores}"
    assert found[mean] == pytest.approx(-3 * found["opponent_statistics"][mean])
    assert 0 <= found["self_drawn_rate"] <= found["win_rate"] < 1
    assert found["deal_in_rate"] + 3 * found["opponent_statistics"]["deal_in_rate"] <= 1
    records = list(game.read_records(hands))
    assert [record.players.index("candidate") for record in records[:8]] == [0, 1, 2, 3, 0, 1, 2, 3]
    assert (len(records), len({record.wall for record in records})) == (80, 20)
    assert cli.main(["view", str(hands), "--out", str(page), "--no-browser", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["deals"] == 20
    assert PAGES[game.name] in page.read_text(encoding="utf-8")
    assert cli.main([*words, "--deals", "40"]) == 2
    assert f"--deals has no meaning for {game.name}" in capsys.readouterr().err


PAGES = {"dazhong": "declares ting", "mcr": "empty wall"}


def test_a_person_plays_in_the_terminal(
    game: HandGame, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = cycle(["win", "pass", *(text for text in game.text.moves if len(text) == 2)])
    monkeypatch.setattr(
        "suphx_platform.console.console.typed_line", lambda prompt: "q" if prompt.startswith("Enter") else next(typed)
    )
    monkeypatch.chdir(tmp_path)
    words = ["play", "--game", game.name, "--agent", "random", "--seat", "2", "--name", "Anna", "--seed", "5", "--json"]
    assert cli.main(words) == 0
    shown = capsys.readouterr()
    (record,) = game.read_records(Path(json.loads(shown.out.splitlines()[-1])["records"]))
    assert record.players == ("random", "Anna", "random", "random")
    assert "South (you):" in shown.err
    assert "is not legal" in shown.err
