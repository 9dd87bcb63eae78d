"""A person with three agents: whole games, only legal moves, and nothing that is hidden from the seat."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.games.riichi.archive.archive import verify_records
from suphx.games.riichi.archive.record_writer import RecordForm, write_records
from suphx.games.riichi.hidden import determinise
from suphx.games.riichi.play import GameSession, RefusedMoveError, offered_moves, seen_state
from suphx.games.riichi.records.viewer_game import viewer_game, viewer_state
from suphx.games.riichi.rules import Rules
from suphx.games.riichi.table import PASS, RIICHI, RON, TSUMO, TSUMOGIRI
from suphx.kernel.record import Records
from tests.games.riichi.clicker import at_persons_turn, choose, new_session, play, simulator_of

RULES = Rules(num_winds=1)
HANCHAN = Rules()


def finished(seed: int, seat: int, rules: Rules) -> GameSession:
    session = new_session(seed, seat=seat, rules=rules)
    for _ in play(session, seed):
        pass
    return session


@pytest.mark.parametrize(("seed", "seat", "rules"), [(0, 0, HANCHAN), (1, 1, RULES), (2, 2, RULES), (3, 3, RULES)])
def test_a_game_of_offered_moves_is_a_record_that_the_engine_replays(
    seed: int, seat: int, rules: Rules, tmp_path: Path
) -> None:
    session = finished(seed, seat, rules)
    view, replayed = session.view(), viewer_game(session.log())
    assert view["final"] == replayed["final"]
    assert view["placement"] == replayed["placement"]
    keys = ("kyoku", "honba", "sticks", "dealer", "scores", "after", "result")
    assert view["finished"] == [{key: deal[key] for key in keys} for deal in replayed["deals"]]
    forms: tuple[RecordForm, ...] = ("mjlog", "mjai")
    for form in forms:
        write_records([session.log()], tmp_path / form, form)
        report = verify_records([tmp_path / form], workers=1)
        assert (report.games, report.differences, report.set_aside.count) == (1, 0, 0)


@pytest.mark.parametrize("seed", range(3))
def test_the_steps_lead_to_the_state_of_the_view(seed: int) -> None:
    session = new_session(seed, seat=seed)
    state = dict(session.view()["state"])
    for view, steps in play(session, seed):
        state = dict(view["state"]) if not steps else state
        for step in steps:
            state |= step["changes"]
        assert state == view["state"]


def shown_faces(value: Any) -> list[int]:
    """Return all numbers in nested lists."""
    return [face for each in value for face in shown_faces(each)] if isinstance(value, list) else [value]


def assert_hidden(state: dict[str, Any], seat: int, shown: list[int]) -> None:
    """Check the part of a state that a message has: of other seats nothing but the number of tiles."""
    for other in {0, 1, 2, 3} - {seat} - set(shown):
        assert set(state.get(f"hand{other}", [])) <= {-1}
        assert state.get(f"waits{other}", []) == []
        assert all(face == -1 for owner, face in state.get("drawn", []) if owner == other)


@pytest.mark.parametrize("seed", range(3))
def test_no_message_has_a_tile_that_the_seat_cannot_see(seed: int) -> None:
    session = new_session(seed, seat=seed)
    for view, steps in play(session, seed):
        assert_hidden(view["state"], seed, view["state"]["open"])
        assert len(view["state"]["open"]) == 0 or view["deal"]["result"] is not None
        for step in steps:
            assert_hidden(step["changes"], seed, step["changes"].get("open", []))
            if step["kind"] == "draw" and step["seat"] != seed:
                assert step["faces"] == [-1]
            assert set(step) == {"kind", "seat", "faces", "changes"}
        text = json.dumps([view, steps])
        assert not [word for word in ("wall", "seed", "decisions") if word in text]


@pytest.mark.parametrize("seed", range(2))
def test_the_view_is_the_same_whatever_the_hidden_tiles_are(seed: int) -> None:
    """Deal all that the seat cannot see again: what it is shown, and what it may do, must not change."""
    session = new_session(seed, seat=seed)
    compared = 0
    for view, _ in play(session, seed):
        if not view["moves"]:
            continue
        other = determinise(simulator_of(session).tables, seed, 1000 + compared)
        assert seen_state(viewer_state(other[0], RULES.red_bits), seed) == view["state"]
        assert offered_moves(other, RULES) == view["moves"]
        compared += 1
    assert compared > 30


@pytest.mark.parametrize("discard", [None, PASS, RIICHI, 500, -1])
def test_riichi_needs_a_legal_discard(discard: int | None) -> None:
    session = session_with("riichi")
    before = simulator_of(session).tables.copy()
    with pytest.raises(RefusedMoveError, match=r"needs a discard|is not legal now"):
        session.move(session.number, RIICHI, discard)
    assert is_same_table(simulator_of(session).tables, before)


def test_riichi_and_its_discard_are_one_move() -> None:
    session = session_with("riichi")
    (offer,) = [move for move in session.view()["moves"] if move["move"] == "riichi"]
    steps = session.move(session.number, RIICHI, offer["discards"][0])
    assert [step["kind"] for step in steps[:2]] == ["riichi", "discard"]
    assert session.view()["state"]["riichi"][session.seat]


def is_same_table(one: Records, other: Records) -> bool:
    return all(np.array_equal(one[name], other[name]) for name in one.dtype.names or ())


def session_with(move: str) -> GameSession:
    """Return a game in which the person may make ``move`` now."""
    for seed in range(60):
        session = new_session(seed)
        rng = np.random.default_rng(seed)
        while not session.is_over:
            if session.is_between_deals:
                session.next_deal(session.number)
            elif session.is_agents_turn:
                session.play_agent()
            else:
                moves = session.view()["moves"]
                if any(each["move"] == move for each in moves):
                    return session
                session.move(session.number, *choose(careful(moves, session), rng))
    raise AssertionError(f"no game offered {move}")


def careful(moves: list[dict[str, Any]], session: GameSession) -> list[dict[str, Any]]:
    """Return the move of the hasty agents, which come to riichi."""
    wanted = int(session._act(simulator_of(session).tables, np.zeros(1, np.int64))[0])
    return [each for each in moves if each["action"] == wanted] or moves


@pytest.mark.parametrize("action", [PASS, RON, TSUMO, 500, -1])
def test_an_illegal_move_is_refused_and_changes_nothing(action: int) -> None:
    session = at_persons_turn(new_session(0, seat=0))
    view, before = session.view(), simulator_of(session).tables.copy()
    with pytest.raises(RefusedMoveError, match="is not legal now: choose one of the moves that are offered"):
        session.move(session.number, action)
    assert session.view() == view
    assert is_same_table(simulator_of(session).tables, before)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda game: game.move(game.number, TSUMOGIRI, TSUMOGIRI), RefusedMoveError, "takes no discard"),
        (lambda game: game.next_deal(game.number), RefusedMoveError, "not your turn"),
        (lambda game: game.play_agent(), ValueError, "no agent has to decide"),
        (lambda game: game.log(), ValueError, "the game is not over"),
        (lambda _: new_session(0, seat=4), ValueError, "seat is 4: use 0 to 3"),
    ],
)
def test_what_is_not_possible_now_is_refused(
    call: Callable[[GameSession], object], error: type[ValueError], message: str
) -> None:
    session = at_persons_turn(new_session(0))
    with pytest.raises(error, match=message):
        call(session)


def test_a_stale_move_is_refused() -> None:
    session = at_persons_turn(new_session(0))
    number = session.number
    session.move(number, TSUMOGIRI)
    with pytest.raises(RefusedMoveError, match="an earlier moment of the game"):
        session.move(number, TSUMOGIRI)
    with pytest.raises(RefusedMoveError, match="not your turn"):
        session.move(number + 1, TSUMOGIRI)


def test_after_riichi_the_drawn_tile_is_discarded_without_a_question() -> None:
    session = session_with("riichi")
    (offer,) = [move for move in session.view()["moves"] if move["move"] == "riichi"]
    session.move(session.number, RIICHI, offer["discards"][0])
    while not (session.is_between_deals or session.is_over):
        if session.is_persons_turn:
            moves = {each["move"] for each in session.view()["moves"]}
            assert moves & {"tsumo", "ron", "ankan"}
            session.move(session.number, PASS if "ron" in moves else TSUMOGIRI)
        else:
            session.play_agent()
