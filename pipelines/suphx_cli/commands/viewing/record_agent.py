"""The agent that is asked about records."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from suphx_platform.agents.agent_forms import check_agent, is_program, split_wrapper

if TYPE_CHECKING:
    from suphx.selfplay.agents.agent import Agent
    from suphx_platform.console.console import Console


def check_record_agent(record: Path, address: str | None) -> None:
    """Raise ValueError for a missing record, or an agent that cannot be asked about one."""
    if not record.exists():
        raise ValueError(f"{record} does not exist: give a record file or a folder of records")
    if address is None:
        return
    check_agent(address)
    if is_program(address) or split_wrapper(address)[0]:
        raise ValueError(
            f"{address!r} must follow whole games and cannot be asked about a record: name a baseline or nets"
        )


def loaded_agent(address: str, runs: Path, console: Console) -> Agent:
    """Return the agent, wherever its nets are; ValueError for an unknown one."""
    from tempfile import TemporaryDirectory

    from suphx.selfplay.agents.agent import load_agent
    from suphx_platform.agents.agent_source import AgentSource
    from suphx_platform.tracking.tracking import TrackingStore

    with console.activity("loading the agent"), TemporaryDirectory(prefix="suphx-agent-") as space:
        return load_agent(AgentSource(TrackingStore(runs)).fetch(address, Path(space) / "agent"))
