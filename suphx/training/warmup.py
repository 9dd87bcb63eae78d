"""The kernels of this project in groups: each function does in small what runs do, so that all it needs is compiled.

A kernel of one group may be needed by others; whoever comes first compiles it (kernel/jit.py). Imports are
inside the functions: torch is loaded only if a group needs it.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suphx.games.registry import GAMES
from suphx.games.riichi.names import DECISIONS
from suphx.json_text import parse_json
from suphx.kernel.jit import cache_folder
from suphx.kernel.source_closure import PROJECT_ROOT, closure

if TYPE_CHECKING:
    from suphx.experience.observation import Observations, PolicyOutputs
    from suphx.selfplay.agents.net_agent import NetAgent
    from suphx.training.reward import GlobalReward


_GROUPS = Path(__file__)


def missing_groups(groups: Iterable[str]) -> list[str]:
    """Return those of ``groups`` (names of ``KERNEL_GROUPS``) that are not compiled for these sources.

    Where torch is not installed, those that need it are not missing.
    """
    has_torch = find_spec("torch") is not None
    return [group for group in groups if (has_torch or group in WITHOUT_TORCH) and not _is_compiled(_mark(group))]


def mark_compiled(group: str) -> None:
    """Remember that all kernels of ``group`` are in the cache."""
    mark = _mark(group)
    mark.parent.mkdir(parents=True, exist_ok=True)
    partial = mark.with_name(f".{mark.name}.{os.getpid()}")
    folders = (cache_folder(module, path) for module, path in _kernel_modules(_sources(group)))
    partial.write_text(json.dumps([folder.name for folder in folders if folder.is_dir()]), encoding="utf-8")
    partial.replace(mark)


def _mark(group: str) -> Path:
    """Return the file whose name changes with all sources that the kernels of ``group`` are made of."""
    digests = "".join(f"-{cache_folder(group, path).name.rpartition('-')[2]}" for path in _sources(group)[1:])
    return cache_folder("suphx.training.warmup", _GROUPS) / f"{group.replace(' ', '_')}{digests}.compiled"


@cache
def _sources(group: str) -> tuple[Path, ...]:
    """Return the files from which all sources are found: this one, and that of a game which is imported by its name."""
    if group not in GAME_GROUPS:
        return (_GROUPS,)
    spec = find_spec(GAMES[GAME_GROUPS[group]].module)
    assert spec is not None
    return _GROUPS, Path(str(spec.origin))


def _is_compiled(mark: Path) -> bool:
    try:
        names = parse_json(mark.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    kernels = mark.parent.parent
    return (kernels.parent / "tables").is_dir() and all((kernels / name).is_dir() for name in names)


@cache
def _kernel_modules(sources: tuple[Path, ...]) -> list[tuple[str, Path]]:
    """Return the name and the file of each module with kernels."""
    files = set[str]().union(*(closure(path, [PROJECT_ROOT]) for path in sources))
    return [
        (".".join(path.relative_to(PROJECT_ROOT).with_suffix("").parts), path)
        for path in map(Path, sorted(files))
        if "\n@jit\n" in path.read_text(encoding="utf-8")
    ]


_ENCODER = "mini"  # the same kernels serve all encoders


def warm_engine() -> None:
    """Compile the rules of the game."""
    from suphx.games.riichi.rules import tenhou
    from suphx.games.riichi.simulator import Simulator

    simulator = Simulator(1, tenhou(), stops_at_kyoku_end=True)
    simulator.reset([0])
    nothing = np.zeros(0, np.int64)
    simulator.advance(nothing, np.zeros(0, np.int16))
    simulator.next_kyoku(nothing)


def warm_hands() -> None:
    """Compile what reads a hand: shanten, waits, and what it is worth."""
    from suphx.games.mahjong.shanten import load_suits
    from suphx.games.riichi.shanten import improving_kinds, shanten, waiting_kinds
    from suphx.games.riichi.yaku import score_hand

    suits, hand, melds = load_suits(), np.zeros(34, np.int8), np.zeros(4, np.int8)
    hand[:5] = 3, 3, 3, 3, 2
    score_hand(hand, 0, melds, melds, 4, 0, 27, 27, 0, 0)
    hand[4] = 1
    improving_kinds(suits, hand, 0, shanten(suits, hand, 0))
    waiting_kinds(suits, hand, 0)


def warm_scripted_games() -> None:
    """Compile the scripted agents; play and store a game."""
    from suphx.games.riichi.archive.store import write_store

    with tempfile.TemporaryDirectory() as name:
        assert write_store(_scripted_games("ukeire", "random"), Path(name)).num_games == 1


def warm_replay() -> None:
    """Compile the check of records against the rules."""
    from suphx.games.riichi.records.replay import Replayer

    replayer = Replayer()
    assert not [difference for log in _scripted_games("random") for difference in replayer.replay(log)]


def warm_random_games() -> None:
    """Compile games that are played inside one kernel."""
    from suphx.games.riichi.bots import play_random
    from suphx.games.riichi.rules import tenhou

    play_random(1, tenhou(), seed=0)


def warm_environments() -> None:
    """Compile what the environments of PettingZoo, gymnasium and RLlib call."""
    from suphx.environments.riichi_env import RiichiVectorEnv

    env = RiichiVectorEnv(1, encoder=_ENCODER)
    _, infos = env.reset(seed=0)
    env.step(infos["action_mask"].argmax(axis=1))


def warm_encoder() -> None:
    """Compile the planes of all encoders, look-ahead and hidden tiles included."""
    from suphx.games.riichi.features.encoder import encode_observations, find_encoder
    from suphx.games.riichi.features.oracle import with_oracle
    from suphx.games.riichi.features.suit_targets import load_lookup
    from suphx.games.riichi.names import DISCARD_HEAD
    from suphx.games.riichi.table import TABLE

    encoder = find_encoder(_ENCODER)
    tables, nothing = np.zeros(1, TABLE), np.zeros(0, np.int64)
    rows = np.zeros((0, encoder.layout(DISCARD_HEAD).observation_bytes), np.uint8)
    encode_observations(encoder.id, load_lookup(), DISCARD_HEAD, tables, nothing, nothing, rows)
    with_oracle(rows, tables, nothing, nothing, keep_probability=1.0)


def warm_nets() -> None:
    """Compile what only a training step needs."""
    import torch

    from suphx.games.mahjong.planes import observation_bytes
    from suphx.games.riichi.names import DISCARD_HEAD
    from suphx.models.net_config import NetConfig
    from suphx.models.policy import PolicyNet

    net = PolicyNet(DECISIONS[DISCARD_HEAD], 1, NetConfig(size="tiny", channels=4, num_blocks=1))
    torch.autograd.backward(net(torch.zeros(1, observation_bytes(1), dtype=torch.uint8)).sum())


def warm_samples() -> None:
    """Compile the way from stored games to training samples."""
    from suphx.games.riichi.archive.store import write_store
    from suphx.games.riichi.features.samples import encode_kyokus

    with tempfile.TemporaryDirectory() as name:
        store = write_store(_scripted_games("random"), Path(name))
        for head in range(len(DECISIONS)):
            encode_kyokus(store, np.arange(store.num_kyokus), head, _ENCODER)


def warm_net_games() -> None:
    """Compile the decision flow of nets that play a match."""
    from suphx.games.riichi.names import DISCARD_HEAD
    from suphx.games.riichi.rules import tenhou
    from suphx.selfplay.rollouts.rollout import play_games

    agents = [_untrained(), _untrained(sampled_heads=(DISCARD_HEAD,))]
    assert list(play_games(agents, np.array([[0, 1, 0, 1]]), [0], tenhou()))


def warm_self_play() -> None:
    """Compile groups of tables, trajectories, rewards and playouts; every observation is answered with no."""
    from suphx.games.learning import LearningConfig
    from suphx.games.riichi.features.encoder import find_encoder
    from suphx.games.riichi.features.oracle import ORACLE, seen_planes
    from suphx.games.riichi.names import DISCARD_HEAD
    from suphx.games.riichi.rules import tenhou
    from suphx.games.riichi.selfplay.table_group import TableGroup

    encoder, heads = find_encoder(_ENCODER), tuple(range(len(DECISIONS)))
    group = TableGroup(LearningConfig(num_tables=2, learned=heads), encoder, tenhou(), first_seed=0)
    observed = group.observe()
    number, discards = next((n, part) for n, part in enumerate(observed) if part.decision == DISCARD_HEAD)
    legal = discards.masks.argmax(axis=1).astype(np.int16)[:1, None]
    group.branch(number, np.zeros(1, np.int64), legal, [], num_walls=2).points()  # of discards no probability counts
    ended = group.step([_no(observations) for observations in observed])
    while not len(ended.ends.games):
        ended = group.step([_no(observations) for observations in group.observe()])
    for decisions in ended.with_rewards(_reward(num_tables=2)(ended.ends)):
        decisions.take(np.zeros(0, np.int64)).planes.dense()
    oracle_group = TableGroup(
        LearningConfig(num_tables=2, learned=heads, options=frozenset({"hidden"})), encoder, tenhou(), first_seed=0
    )
    for observations in oracle_group.observe(0.5):
        seen_planes(observations.planes, encoder.layout(observations.decision).num_planes, ORACLE.num_planes)


def warm_adaptation() -> None:
    """Compile what deals the hidden tiles of a position again and plays it to the end."""
    from suphx.games.riichi.rules import tenhou
    from suphx.games.riichi.simulator import Simulator
    from suphx.training.adaptation import Adapter
    from suphx.training.config import AdaptationConfig

    simulator = Simulator(1, tenhou())
    simulator.reset([0])
    seats = simulator.tables["actor"].astype(np.int64)
    Adapter(_untrained(), AdaptationConfig(num_rollouts=8)).adapt(simulator.tables, seats, np.zeros(1, np.int64))


def warm_games_of(name: str) -> None:
    """Compile the rules of a game, its scripted agents, and what plays its records again."""
    from suphx.games.registry import load_game
    from suphx.selfplay.rollouts.rollout import play_games

    game = load_game(name)
    agents = [game.scripted_agent(each) for each in game.agents]
    seating = np.arange(len(game.seat_names))[np.newaxis] % len(agents)
    game.viewer_game(list(play_games(agents, seating, [0], game.new_rules({}), game=name)))


def warm_nets_of(name: str) -> None:
    """Compile what nets of a game see and decide, its self-play, and the samples of its records."""
    from suphx.games.learning import LearningConfig
    from suphx.games.registry import find_learning, load_game
    from suphx.selfplay.rollouts.rollout import play_games

    game, learning = load_game(name), find_learning(name)
    encoder, kinds = learning.encoders[0], tuple(kind.number for kind in game.decisions)
    seating = np.zeros((1, len(game.seat_names)), np.int64)
    agents = [_untrained(kinds[:1], name, encoder)]
    records = list(play_games(agents, seating, [0], game.new_rules({}), game=name))
    if learning.samples is not None:
        with tempfile.TemporaryDirectory() as folder:
            store = learning.samples.write(records, Path(folder))
            for kind in kinds:
                learning.samples.encode(store, np.zeros(1, np.int64), kind, encoder)
    tables = learning.new_learning_tables(LearningConfig(num_tables=2, learned=kinds), encoder, first_seed=0)
    while not (ended := tables.step([_no(observations) for observations in tables.observe()])).num_deals:
        pass
    for decisions in ended.with_rewards(ended.points):
        decisions.take(np.zeros(0, np.int64)).planes.dense()


KERNEL_GROUPS: dict[str, Callable[[], None]] = {
    "engine": warm_engine,
    "hands": warm_hands,
    "scripted games": warm_scripted_games,
    "encoder": warm_encoder,
    "replay": warm_replay,
    "adaptation": warm_adaptation,
    "self-play": warm_self_play,
    "samples": warm_samples,
    "net games": warm_net_games,
    "nets": warm_nets,
    "random games": warm_random_games,
    "environments": warm_environments,
}
"""What can be compiled side by side: what the first games need, then what takes longest."""
GAME_GROUPS = {f"{name} {part}": name for name in GAMES if GAMES[name].has_kernel_groups for part in ("games", "nets")}
"""The groups of one game alone, with its name."""
for _group, _name in GAME_GROUPS.items():
    KERNEL_GROUPS[_group] = partial(warm_games_of if _group.endswith(" games") else warm_nets_of, _name)
FIRST_GAMES = ("engine", "hands", "scripted games")
"""What the first games of a run need."""
WITHOUT_TORCH = (
    *("engine", "hands", "scripted games", "encoder", "replay", "samples", "random games", "environments"),
    *(group for group in GAME_GROUPS if group.endswith(" games")),
)
"""What needs no torch, which may be missing and takes seconds to import."""
_SUPERVISED = ("encoder", "replay", "samples", "nets", "net games")


def run_groups(game: str, *, plays_itself: bool, has_records: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the groups that a run needs before its first games, or to read its records, and all that it needs."""
    if GAMES[game].has_kernel_groups:
        return (f"{game} games",), (f"{game} games", f"{game} nets", "nets")
    every = (*FIRST_GAMES, *_SUPERVISED, *(("self-play",) if plays_itself else ()))
    return ("replay",) if has_records else FIRST_GAMES, every


def import_for(group: str) -> None:
    """Import what several groups need: a process that compiles is forked from one that has it."""
    from suphx.games.registry import load_game
    from suphx.games.riichi.simulator import Simulator  # noqa: F401

    if group in GAME_GROUPS:
        load_game(GAME_GROUPS[group])
    if group not in WITHOUT_TORCH:
        import suphx.models.policy
        import suphx.selfplay.agents.net_agent  # noqa: F401


def _scripted_games(*names: str) -> Iterator[Any]:
    """Yield the record of a game in which scripted agents play."""
    from suphx.games.riichi.rules import tenhou
    from suphx.games.riichi.tables import ScriptedAgent
    from suphx.selfplay.rollouts.rollout import play_games

    seating = np.arange(4)[np.newaxis] % len(names)
    return play_games([ScriptedAgent(name) for name in names], seating, [0], tenhou())


def _no(observations: Observations) -> PolicyOutputs:
    from suphx.experience.observation import PolicyOutputs

    outputs = PolicyOutputs.blank(len(observations), 0)
    if observations.masks.shape[1]:
        outputs.actions[:] = observations.masks.argmax(axis=1)
    return outputs


def _reward(num_tables: int) -> GlobalReward:
    from suphx.models.net_config import RewardPredictorConfig
    from suphx.models.reward_predictor import RewardPredictor, weights_of
    from suphx.training.config import GlobalRewardConfig
    from suphx.training.reward import GlobalReward, Prediction

    points = (75.0, 30.0, 0.0, -150.0)
    weights = weights_of(RewardPredictor(RewardPredictorConfig(), points))
    config = GlobalRewardConfig()
    prediction = Prediction(
        weights=weights, points=points, exchange_rate=config.exchange_rate, last_kyoku=config.last_kyoku
    )
    return GlobalReward(prediction, num_tables)


def _untrained(sampled_heads: tuple[int, ...] = (), game: str = "riichi", encoder: str = _ENCODER) -> NetAgent:
    from suphx.models.net_config import NetConfig
    from suphx.selfplay.agents.net_agent import NetAgent
    from suphx.selfplay.agents.policy_set import random_policy_set

    nets = random_policy_set(encoder, NetConfig(size="tiny", channels=4, num_blocks=1), 0, game=game).nets
    return NetAgent("untrained", nets, encoder, sampled=sampled_heads)
