"""Play a match on shared walls and print who is stronger.

python examples/play_match.py [CANDIDATE [OPPONENT [HANCHANS]]]
"""

import sys

from suphx import play_match

candidate, opponent, hanchans = [*sys.argv[1:], *("ukeire", "tsumogiri", "100")[len(sys.argv) - 1 :]]
report = play_match(candidate, opponent, num_hanchans=int(hanchans), seed=1)
print(report.verdict())
print(f"first to fourth place: {report.statistics.placements}")
print(f"wins {report.statistics.win_rate:.1%} of the deals, deals in {report.statistics.deal_in_rate:.1%}")
