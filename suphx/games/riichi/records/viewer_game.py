"""A recorded game step by step, as plain values from which a page shows it without knowing any rule.

A deal is its first state and its steps; each step has the keys of the state that it changes. Steps:
``draw``, ``discard``, ``riichi``, ``chi``, ``pon``, ``minkan``, ``ankan``, ``kakan``, ``end``.

>>> values = viewer_game(game, opinions)  # keys: viewer_game
>>> json.dumps(values)

Faces are those of tile.py, flags those of table.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from suphx.games.mahjong.tile import CHI_MELD, MINKAN_MELD, NUM_KINDS, PON_MELD
from suphx.games.riichi import table as codes
from suphx.games.riichi.ending import end_kyoku
from suphx.games.riichi.records.decisions import (
    SEATS,
    KyokuWalk,
    Opinions,
    hand_faces,
    kan_of_own,
    kyoku_name,
    shown_meld,
    viewer_decision,
    viewer_move,
)
from suphx.games.riichi.records.game_log import RESULT_NAMES, GameLog, KyokuLog
from suphx.games.riichi.records.kyoku_builder import shown_hands
from suphx.games.riichi.records.replay import compare_results
from suphx.games.riichi.rules import KAN_URA_DORA, URA_DORA
from suphx.games.riichi.tile import NUM_TILES, face_of_id, kind_of_face
from suphx.games.riichi.yaku import base_points
from suphx.games.riichi.yaku_number import YAKU_NAMES

_URA_BONUS = "ura dora"
_BONUS_COLUMNS = (("dora", "win_dora"), ("red fives", "win_red"), (_URA_BONUS, "win_ura"))
"""What adds han without being a yaku -> column of a TABLE record."""
_LIMITS = {2000: "mangan", 3000: "haneman", 4000: "baiman", 6000: "sanbaiman", 8000: "yakuman"}


def viewer_result(table: Any, red_fives: int, *, is_ura_known: bool = True) -> dict[str, Any]:
    """Return the result of a TABLE record at KYOKU_END.

    ``{"kind", "wins": [{"seat", "loser", "liable", "face", "han", "fu", "yakuman", "limit", "yaku": [name],
    "bonus": [[name, count]], "points", "deltas": [4]}], "tenpai": [seat], "ura": [face], "deltas": [4]}``. ``loser``
    is the winner for a tsumo, ``liable`` null without pao; ``deltas`` of all wins have no paid riichi sticks. Unless
    ``is_ura_known``, ``ura`` has UNKNOWN tiles, and ``han`` of a win with riichi is null if only its limit is certain.
    """
    wins = [_win(table, w) for w in range(int(table["num_wins"]))]
    ura = [face_of_id(int(table["wall"][place]), red_fives) for place in codes.URA_POSITIONS[: shown_ura(table)]]
    if not is_ura_known:
        ura = [UNKNOWN] * len(ura)
        for win in wins:
            if win["limit"] and not win["yakuman"] and table["riichi"][win["seat"]]:
                win |= {"han": None, "bonus": [pair for pair in win["bonus"] if pair[0] != _URA_BONUS]}
    return {
        "kind": RESULT_NAMES[int(table["result"])],
        "wins": wins,
        "tenpai": [seat for seat in range(SEATS) if table["tenpai"][seat]],
        "ura": ura,
        "deltas": [int(delta) for delta in table["deltas"]],
    }


def shown_ura(table: Any) -> int:
    """Return how many ura indicators a TABLE record at KYOKU_END shows: those that count for a winner in riichi."""
    flags = int(table["rule_flags"])
    has_riichi = any(table["riichi"][int(table["win_seat"][w])] for w in range(int(table["num_wins"])))
    if not has_riichi or not flags & URA_DORA:
        return 0
    return int(table["num_dora"]) if flags & KAN_URA_DORA else 1


def _win(table: Any, w: int) -> dict[str, Any]:
    han, fu, yakuman, points, liable = (
        int(table[f"win_{name}"][w]) for name in ("han", "fu", "yakuman", "points", "liable")
    )
    base = int(base_points(han, fu, yakuman, int(table["rule_flags"])))
    return {
        "seat": int(table["win_seat"][w]),
        "loser": int(table["win_loser"][w]),
        "liable": liable if liable >= 0 else None,
        "face": int(table["win_face"][w]),
        "han": han,
        "fu": fu,
        "yakuman": yakuman,
        "limit": _LIMITS.get(min(8000, base), ""),
        "yaku": [name for number, name in enumerate(YAKU_NAMES) if int(table["win_yaku"][w]) >> number & 1],
        "bonus": [[name, int(table[key][w])] for name, key in _BONUS_COLUMNS if table[key][w]],
        "points": points,
        "deltas": [int(delta) for delta in table["win_deltas"][w]],
    }


State: TypeAlias = dict[str, Any]

_FLAG_STEP = 64  # above all faces


def viewer_state(table: Any, red_fives: int) -> State:
    """Return the state of a TABLE record; ``red_fives``: bit set of suits."""
    phase, turn, num_melds = table["phase"], int(table["turn"]), table["num_melds"].tolist()
    num_wins = int(table["num_wins"]) if phase == codes.KYOKU_END else 0
    wins = [tuple(int(table[f"win_{name}"][w]) for name in ("seat", "loser", "face")) for w in range(num_wins)]
    # beside the hands: the tile just drawn, or those that were won with
    drawn = [[seat, face] for seat, _, face in wins]
    if not wins and table["drawn"] >= 0 and phase in (codes.KYOKU_END, codes.OWN_TURN, codes.RIICHI_DISCARD):
        drawn = [[turn, int(table["drawn"])]]
    open_seats = sorted({seat for seat, _, _ in wins})
    if phase == codes.KYOKU_END and not wins:
        open_seats = shown_hands(int(table["result"]), table["tenpai"], turn)
    state: State = {"drawn": drawn}
    for seat in range(SEATS):
        hand = hand_faces(table, seat)
        for owner, face in drawn:
            if owner == seat and not any(winner == seat != loser for winner, loser, _ in wins):
                hand.remove(face)
        is_calling = phase == codes.CALL_DISCARD and turn == seat  # the hand of its last discard is gone
        waits = 0 if is_calling else int(table["waits"][seat])
        flags = table["river_flags"][seat].tolist()
        river = table["river"][seat][: int(table["river_length"][seat])].tolist()
        state |= {
            f"hand{seat}": hand,
            f"river{seat}": [face + _FLAG_STEP * flag for face, flag in zip(river, flags, strict=False)],
            f"melds{seat}": [shown_meld(table, seat, i) for i in range(num_melds[seat])],
            f"waits{seat}": [kind for kind in range(NUM_KINDS) if waits >> kind & 1],
        }
    shown = codes.DORA_POSITIONS[: int(table["num_dora"])]
    num_kans, next_draw = int(table["num_kans"]), int(table["next_draw"])
    return state | {
        "turn": turn,
        "scores": [int(score) for score in table["scores"]],
        "sticks": int(table["kyotaku"]),
        "riichi": [int(riichi) for riichi in table["riichi"]],
        "dora": [face_of_id(int(table["wall"][position]), red_fives) for position in shown],
        "next": next_draw,
        "rinshan": num_kans,
        "left": codes.LAST_DRAW - num_kans - next_draw,
        "open": open_seats,
    }


def changes(before: State, after: State) -> State:
    """Return the keys of ``after`` whose values differ from ``before``."""
    return {key: value for key, value in after.items() if before[key] != value}


UNKNOWN = -1  # in place of a face: a tile that is not shown

_CALLS = {CHI_MELD: "chi", PON_MELD: "pon", MINKAN_MELD: "minkan"}

Sight = Callable[[State], State]  # a state -> what one seat sees of it


class ViewerSteps:
    """Consumes: a table after each of its decisions. Produces: ``steps``, and ``shown``, the state after the last one.

    With ``sight`` the steps contain only what it returns.
    """

    def __init__(self, table: Any, red_fives: int, sight: Sight = lambda state: state) -> None:
        """``table`` waits for the first decision of a deal; ``red_fives``: bit set of suits."""
        self._red = red_fives
        self._sight = sight
        self.steps: list[dict[str, Any]] = []
        dealt = viewer_state(table, red_fives)
        self._whole = _before_draw(dealt, is_rinshan=False)
        self.start = self.shown = sight(self._whole)  # the state before the first draw
        self._draw(dealt)

    def follow(self, table: Any, action: int, phase: int) -> None:
        """Add what came of ``action``, taken in ``phase``: no step, one, or a move and the draw after it."""
        after = viewer_state(table, self._red)
        if table["phase"] == codes.KYOKU_END:
            if phase not in (codes.CLAIM, codes.ROB_KAN) and (
                action <= codes.TSUMOGIRI or codes.ANKAN <= action < codes.TSUMO
            ):
                # The deal ends at once: the last discard without claims, four winds, four kans.
                self._move(action, {**after, "open": [], "scores": self._whole["scores"]})
            self._add("end", int(table["turn"]), [], after)
            return
        is_draw = table["phase"] == codes.OWN_TURN
        moved = _before_draw(after, is_rinshan=bool(table["is_rinshan"])) if is_draw else after
        if phase in (codes.CLAIM, codes.ROB_KAN):
            if table["phase"] in (codes.CLAIM, codes.ROB_KAN):
                return
            seat = int(table["turn"])
            melds = moved[f"melds{seat}"]
            if len(melds) > len(self._whole[f"melds{seat}"]):  # a claim was granted when the window closed
                kind = _CALLS[int(table["meld_type"][seat, len(melds) - 1])]
                self._add(kind, seat, melds[-1]["faces"], moved)
        else:
            self._move(action, moved)
        if is_draw:
            self._draw(after)

    def _move(self, action: int, after: State) -> None:
        """Add the actor's move of its own turn."""
        seat, drawn = int(self._whole["turn"]), self._whole["drawn"]
        if codes.ANKAN <= action < codes.TSUMO:
            kind, tile = kan_of_own(action)
            faces = [tile] * 4
            # The meld shows whether it has a red five, which then comes first.
            melds = (sorted(meld["faces"], reverse=True) for meld in after[f"melds{seat}"])
            faces = next((each for each in melds if [kind_of_face(face) for face in each] == faces), faces)
        else:
            move = viewer_move({"drawn": drawn[0][1] if drawn else UNKNOWN, "claimed_face": UNKNOWN}, action)
            kind, faces = move["move"], [] if action == codes.RIICHI else move["faces"]
        self._add(kind, seat, faces, {**after, "turn": seat})

    def _draw(self, after: State) -> None:
        seat, face = self._sight(after)["drawn"][0]
        self._add("draw", seat, [face], after)

    def _add(self, kind: str, seat: int, faces: list[int], after: State) -> None:
        seen = self._sight(after)
        changed = changes(self.shown, seen)
        self.steps.append({"kind": kind, "seat": seat, "faces": faces, "changes": changed, "decisions": []})
        self._whole, self.shown = after, seen


def _before_draw(after: State, *, is_rinshan: bool) -> State:
    """Return the state before its newest draw."""
    return {
        **after,
        "drawn": [],
        "next": after["next"] - (not is_rinshan),
        "rinshan": after["rinshan"] - is_rinshan,
        "left": after["left"] + 1,
    }


def viewer_game(
    game: GameLog, opinions: Opinions | None = None, seats: Sequence[int] | None = None
) -> dict[str, Any]:  # fmt: skip
    """Return the game; ValueError when its moves contradict the rules.

    ``{"id", "names": [4], "deals": [{"name", "kyoku", "honba", "sticks", "dealer", "wall": [136 faces], "scores": [4],
    "after": [4], "start": state, "steps": [{"kind", "seat", "faces", "changes": state, "decisions"}], "result"}],
    "final": [4] or null, "placement": [4] or null, "agent": name or null, "num_decisions", "num_differences"}``.
    ``after``: points when the next deal starts, or at the end of the game. ``opinions``: of all decisions of the game
    (``recorded_decisions``); the steps then have the ``decisions`` (decisions.py) that they lead to, with
    ``seats`` (0-3) only theirs.
    """
    red, number = game.rules.red_bits, 0
    deals: list[dict[str, Any]] = []
    table: Any = None
    for index, log in enumerate(game.kyokus):
        walk = KyokuWalk(game, index)
        table = walk.table
        scores = [int(score) for score in table["scores"]]
        steps = ViewerSteps(table, red)
        pending: tuple[int, int] | None = None
        for decision in walk:
            if pending is not None:
                steps.follow(table, *pending)
            is_shown = table["num_legal"] > 1 and (seats is None or table["actor"] in seats)
            if opinions is not None and is_shown:
                steps.steps[-1]["decisions"].append(
                    viewer_decision(
                        table,
                        decision.action,
                        is_known=decision.is_known,
                        opinion=int(opinions.actions[number]),
                        probabilities=opinions.probabilities[number],
                    )
                )
            number += 1
            pending = (decision.action, int(table["phase"]))
        if pending is not None:
            steps.follow(table, *pending)
        difference = compare_results(table, log.result, log.is_result_complete)
        if difference:
            raise ValueError(f"{walk.place} contradicts the rules ({difference}): see suphx records verify")
        result, wall = viewer_result(table, red, is_ura_known=log.is_ura_known), _wall(log, table, red)
        end_kyoku(walk.tables[0])
        deals.append(
            {
                "name": kyoku_name(log.kyoku, log.honba),
                "kyoku": log.kyoku,
                "honba": log.honba,
                "sticks": log.kyotaku,
                "dealer": log.kyoku % SEATS,
                "wall": wall,
                "scores": scores,
                "after": [int(score) for score in table["scores"]],
                "start": steps.start,
                "steps": steps.steps,
                "result": result,
            }
        )
    decisions = [each for deal in deals for step in deal["steps"] for each in step["decisions"]]
    is_over = table is not None and table["phase"] == codes.GAME_END
    return {
        "id": game.id,
        "names": list(game.names),
        "deals": deals,
        "final": deals[-1]["after"] if is_over else None,
        "placement": [int(place) for place in table["placement"]] if is_over else None,
        "agent": opinions.name if opinions else None,
        "num_decisions": sum(each["played"] is not None and each["agent"] is not None for each in decisions),
        "num_differences": sum(each["differs"] for each in decisions),
    }


def _wall(log: KyokuLog, table: Any, red_fives: int) -> list[int]:
    """Return the faces of the wall; UNKNOWN where the record did not show the tile of a wall that has no seed."""
    faces = [face_of_id(int(tile), red_fives) for tile in log.wall]
    if log.is_wall_from_seed:
        return faces
    num_dora = int(table["num_dora"])
    known = set(range(int(table["next_draw"]))) | set(codes.RINSHAN[: int(table["num_kans"])])
    known |= set(codes.DORA_POSITIONS[:num_dora])
    if log.is_ura_known:
        known |= set(codes.URA_POSITIONS[: shown_ura(table)])
    return [face if place in known else UNKNOWN for place, face in zip(range(NUM_TILES), faces, strict=True)]
