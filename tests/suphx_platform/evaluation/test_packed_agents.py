from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from suphx.evaluation.game_runner import GamePlan
from suphx.games.riichi.names import HEAD_NAMES
from suphx.games.riichi.tables import ScriptedAgent
from suphx.models.net_config import checkpoint_name
from suphx.selfplay.agents.agent import NetAgent
from suphx.training.adapter import AdaptiveAgent
from suphx_platform.agents.agent_loading import load_any_agent
from suphx_platform.agents.mjai.mjai_agent import MjaiAgent
from suphx_platform.evaluation.game_workers import PackedAgents
from tests.selfplay.small_policy_set import save_random, save_random_weak


@pytest.fixture
def nets(tmp_path: Path) -> Path:
    """Checkpoints, early ones too, of which one is in a folder of its own as supervised stages leave it."""
    folder = save_random(tmp_path / "nets")
    save_random_weak(folder)
    own = folder / "kong"
    own.mkdir()
    (folder / checkpoint_name("kong")).rename(own / checkpoint_name("kong"))
    return folder


def plan(*addresses: str) -> GamePlan:
    return GamePlan(addresses=addresses, names=addresses, summarise=lambda plan, games, lost: {})


def test_agents_arrive_as_they_left(nets: Path) -> None:
    addresses = ["ukeire", str(nets), f"{nets}:weak,sampled", f"adapt-8:{nets}", "mjai-2:/bin/cat -u"]
    packed = pickle.loads(pickle.dumps(PackedAgents.pack(plan(*addresses))))
    assert len(packed.files) == 1, "the nets are there once"
    with packed.unpacked() as there:
        assert (there[0], there[4]) == ("ukeire", "mjai-2:/bin/cat -u")
        assert not any(str(nets) in address for address in there)
        again = PackedAgents.pack(plan(*there))
        kinds = [type(load_any_agent(address)) for address in there]
        space = Path(there[1]).parent
    assert kinds == [ScriptedAgent, NetAgent, NetAgent, AdaptiveAgent, MjaiAgent]
    assert not space.exists()
    (sent,), (arrived,) = packed.files.values(), again.files.values()
    assert len(sent) == 2 * len(HEAD_NAMES)
    assert arrived == sent


def test_weak_nets_need_no_others_beside_them(tmp_path: Path) -> None:
    """As in the matches of self-play, whose folder has only what they need."""
    weak = f"{save_random_weak(tmp_path)}:weak"
    packed = PackedAgents.pack(plan(weak))
    with packed.unpacked() as (there,):
        assert isinstance(load_any_agent(there), NetAgent)
    (sent,) = packed.files.values()
    assert sent.keys() == {checkpoint_name(head, is_weak=True) for head in HEAD_NAMES}


def test_a_missing_checkpoint_is_named_before_anything_is_sent(nets: Path) -> None:
    (nets / checkpoint_name("pong")).unlink()
    with pytest.raises(ValueError, match="has no checkpoint of the pong net"):
        PackedAgents.pack(plan(str(nets)))
