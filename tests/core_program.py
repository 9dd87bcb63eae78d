"""A program that uses all of the core, for a process of its own."""

CORE = """
import suphx
from suphx.environments.riichi_env import RiichiEnv
from suphx_cli.cli import main

RiichiEnv().reset(seed=1)
games = suphx.simulate(["ukeire", "tsumogiri", "tsumogiri", "random"], seed=1)
suphx.save_games(games, "records")
assert suphx.play_match("ukeire", "random", num_hanchans=8, seed=1).games == 8
assert main(["evaluate", "--candidate", "ukeire", "--opponent", "random", "--hanchans", "8", "--workers", "1"]) == 0
assert main(["records", "verify", "records"]) == 0
assert main(["view", "records", "--no-browser", "--out", "game.html"]) == 0
assert main(["play", "--terminal", "--seed", "1"]) == 0
"""
