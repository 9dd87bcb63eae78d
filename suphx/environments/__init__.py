"""Standard environments of riichi: PettingZoo's AEC, gymnasium's single environment and its vector environment.

Start in seat_tables.py, which all environments share; docs/environments.md explains their use. An import
of this package registers ``suphx/Riichi-v0`` with gymnasium.
"""

import gymnasium

ENVIRONMENT_ID = "suphx/Riichi-v0"
"""The name of the environment in gymnasium and, after an import of riichi_v0.py, in PettingZoo."""

gymnasium.register(
    id=ENVIRONMENT_ID,
    entry_point="suphx.environments.riichi_env:RiichiEnv",
    vector_entry_point="suphx.environments.riichi_env:RiichiVectorEnv",
)
