"""What the benchmarks of riichi measure with: positions, winning hands, changed agents and other people's engines.

May import every other folder of riichi but selfplay/ and play/.
Start in winning_hand.py; suphx_platform.bench takes the times.
"""
