"""Play one seat in the mjai protocol: python bot.py SEAT. Needs Python 3.11 and the packages of requirements.txt.

``suphx bot`` puts a copy of this file, as bot.py, into the archive, beside the agent and its code.
"""

import sys
from pathlib import Path

AGENT_FILE = "agent.txt"
NETS = "nets"


def main() -> None:
    """Answer every line of standard input; the seat is the last argument, or the id of ``start_game``."""
    if sys.version_info < (3, 11):  # noqa: UP036 (an arena may start this file with any Python)
        sys.exit("this bot needs Python 3.11 or newer; this is " + sys.version.split()[0])
    from suphx_platform.agents.agent_loading import load_any_agent
    from suphx_platform.agents.mjai.mjai_arena import MjaiPlayer, play_lines, read_lines

    folder = Path(__file__).resolve().parent
    address = (folder / AGENT_FILE).read_text(encoding="utf-8").strip().replace(f"{{{NETS}}}", str(folder / NETS))
    output, sys.stdout = sys.stdout, sys.stderr  # so that nothing else gets between the answers
    seat = int(sys.argv[1]) if len(sys.argv) > 1 else None
    play_lines(MjaiPlayer(load_any_agent(address, "riichi"), seat), read_lines(sys.stdin.buffer), output)


if __name__ == "__main__":
    main()
