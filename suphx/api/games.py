"""Games as Python sees them: played, read and written, and as features for nets. tables.py makes Arrow tables."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.archive.record_writer import RecordForm, write_records
from suphx.games.riichi.archive.store import write_store
from suphx.games.riichi.features.encoder import find_encoder, unpack_rows
from suphx.games.riichi.features.samples import BadDealError, encode_kyokus
from suphx.games.riichi.names import head_index
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.rules import Rules, tenhou
from suphx.kernel.record import I8, U8
from suphx.selfplay.agents.agent import AgentLike, as_agent
from suphx.selfplay.rollouts.rollout import play_games


def simulate(
    agents: AgentLike | Sequence[AgentLike], num_games: int = 1, *, seed: int = 0, rules: Rules | None = None
) -> list[GameLog]:
    """Play games and return their logs; game i has the walls of ``seed + i`` and the id ``<seed + i>-<i>``.

    ``agents``: one for all seats, or four, seat 0 (the first dealer) first: agents, or addresses for ``load_agent``;
    ``rules``: Tenhou's if None.
    ValueError for another number of agents or games, an unknown agent, or a seed outside 0 … 2**62 - 1.

    >>> games = simulate(["ukeire", "tsumogiri", "tsumogiri", "tsumogiri"], 2, seed=7)
    >>> [game.id for game in games]
    ['7-0', '8-1']
    >>> games[0].names
    ('ukeire', 'tsumogiri', 'tsumogiri', 'tsumogiri')
    """
    seats = [agents] * 4 if isinstance(agents, str) or not isinstance(agents, Sequence) else list(agents)
    if len(seats) != 4:
        raise ValueError(f"{len(seats)} agents: give one for all seats, or four")
    if num_games < 1:
        raise ValueError(f"num_games is {num_games}: use 1 or more")
    # Agents need no hash, and may be equal.
    keys = [str(agent) if isinstance(agent, str | Path) else id(agent) for agent in seats]
    known = dict(zip(keys, seats, strict=True))
    places = {key: place for place, key in enumerate(known)}
    loaded = [as_agent(agent) for agent in known.values()]
    seating = np.array([[places[key] for key in keys]] * num_games)
    return list(play_games(loaded, seating, range(seed, seed + num_games), rules or tenhou()))


def load_games(path: str | Path, num_games: int | None = None) -> list[GameLog]:
    """Return the games of a record file, an archive or a folder of records (docs/records.md), in order.

    ``num_games``: maximum number of games, at least 1. Records that cannot be read are skipped with a UserWarning.
    ValueError if the file or folder does not exist or contains no game.

    >>> load_games("nowhere.mjlog")
    Traceback (most recent call last):
    ...
    ValueError: nowhere.mjlog: no such file or folder of records
    """
    quarantine = Quarantine()
    if num_games is not None and num_games < 1:
        raise ValueError(f"num_games is {num_games}: use 1 or more, or None for all")
    if not Path(path).exists():
        raise ValueError(f"{path}: no such file or folder of records")
    games = list(islice(iter_records([Path(path)], quarantine=quarantine), num_games))
    reasons = [f"{each.file}: {each.reason}; {each.remedy}" for each in quarantine.entries[:1]]
    if not games:
        raise ValueError(f"{path} has no game" + "".join(f": {reason}" for reason in reasons))
    if quarantine.count:
        warnings.warn(f"skipped {quarantine.count:,} of the records, such as {reasons[0]}", stacklevel=2)
    return games


def save_games(games: Iterable[GameLog], path: str | Path, form: RecordForm = "mjlog") -> int:
    """Write games as mjlog, mjai or tenhou6, each into a file of the folder ``path``; return how many.

    A file that is there with another game stays: the new one gets a number behind its name. If the path has the name
    of a file, such as games.mjson or games.tsv.xz (docs/records.md), that is written instead. ValueError for another
    form, and for a game that the form cannot represent.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_games(simulate("tsumogiri", 2), folder, "mjai"), len(load_games(folder))
    (2, 2)
    """
    return write_records(games, Path(path), form)


@dataclass(frozen=True, slots=True, eq=False)
class EncodedDecisions:
    """The decisions of one head, in the order of the games. Compare the arrays, not two of these."""

    planes: U8
    """uint8 [n, planes, 34] of 0 and 1."""
    masks: U8
    """uint8 [n, 34]: kinds that may be discarded; [n, 0] for other heads."""
    labels: I8
    """int8 [n]: the kind that was discarded; 1 = yes, 0 = no for other heads."""


def encode(games: Iterable[GameLog], head: str = "discard", encoder: str = "mini") -> EncodedDecisions:
    """Encode all decisions of one head in ``games``, each from the view of its player.

    ``head``: discard, riichi, chow, pong or kong; ``encoder``: mini (288 planes for a discard), suphx-plain or suphx
    (838; docs/features.md). A hanchan has about 500 discards; with suphx they take 15 MB. ValueError for another head
    or encoder, and for games that contradict the rules.

    >>> from suphx import encode, simulate
    >>> encoded = encode(simulate("ukeire", 1, seed=7), "riichi")
    >>> encoded.planes.shape[2], len(encoded.labels) == len(encoded.planes), set(encoded.labels.tolist()) <= {0, 1}
    (34, True, True)
    """
    number = head_index(head)
    num_planes = find_encoder(encoder).layout(number).num_planes
    with tempfile.TemporaryDirectory(prefix="suphx-encode-") as folder:
        store = write_store(games, Path(folder))
        try:
            samples = encode_kyokus(store, np.arange(store.num_kyokus), number, encoder)
        except BadDealError as error:
            raise ValueError(
                f"game {error.game} contradicts the rules in deal {error.deal}: omit it; `suphx records verify` "
                "shows what is wrong"
            ) from error
    return EncodedDecisions(unpack_rows(samples.planes, num_planes), samples.masks, samples.labels)
