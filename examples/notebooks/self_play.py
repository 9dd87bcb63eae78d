# %% [markdown]
# # Self-play
#
# One small net plays all four seats against itself and learns from the points of each deal, by policy gradient
# (REINFORCE). `python examples/notebooks/self_play.py [ROUNDS [GAMES]]`: 30 rounds of 64 games take some minutes.

# %%
import sys

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import suphx
from suphx.games.riichi import DISCARD_HEAD, NUM_ACTIONS, find_encoder, load_lookup, see_tables

arguments = [] if "ipykernel" in sys.modules else sys.argv[1:]  # Jupyter's own arguments are not ours
ROUNDS, GAMES = (int(text) for text in (*arguments, *("30", "64")[len(arguments) :]))

# %% [markdown]
# An agent is any object with `name` and `act(tables, indices)`. This one samples its actions and remembers them, with
# the game (the seed of its walls), the deal and the seat.


# %%
class Learner:
    name = "learner"

    def __init__(self):
        self.encoder = find_encoder("mini")
        self.lookup = load_lookup()
        observation_bytes = self.encoder.layout(DISCARD_HEAD).observation_bytes
        self.observation_bytes = observation_bytes
        self.net = nn.Sequential(nn.Linear(8 * observation_bytes, 128), nn.ReLU(), nn.Linear(128, NUM_ACTIONS))
        self.memory = []

    def policy(self, rows, masks):
        bits = torch.from_numpy(np.unpackbits(rows, axis=1, bitorder="little")).float()
        return Categorical(logits=self.net(bits).masked_fill(torch.from_numpy(masks) == 0, -1e9))

    def act(self, tables, indices):
        rows = np.zeros((len(tables), self.observation_bytes), np.uint8)
        masks = np.zeros((len(tables), NUM_ACTIONS), np.int8)
        seats = tables["actor"].astype(np.int64)
        see_tables(self.encoder.id, self.lookup, tables, indices, seats, rows, masks)
        with torch.no_grad():
            actions = self.policy(rows[indices], masks[indices]).sample().numpy()
        places = [tables[name][indices] for name in ("wall_seed", "num_kyoku", "actor")]
        self.memory.append((rows[indices], masks[indices], actions, *places))
        return actions.astype(np.int16)


# %% [markdown]
# The return of a decision is what its seat won or lost in the deal, riichi sticks included, in units of 10,000 points.


# %%
def learn(learner, games, first_seed, optimizer):
    rows, masks, actions, seeds, kyokus, seats = (np.concatenate(part) for part in zip(*learner.memory, strict=True))
    learner.memory.clear()
    scores = [[*(log.scores for log in game.kyokus), game.final_scores] for game in games]
    deltas = [np.diff(of_game, axis=0) for of_game in scores]  # of each deal and seat
    points = [
        deltas[seed - first_seed][kyoku - 1][seat] for seed, kyoku, seat in zip(seeds, kyokus, seats, strict=True)
    ]
    gains = torch.tensor(points).float() / 10_000
    gains = (gains - gains.mean()) / (gains.std() + 1e-8)
    for lines in torch.randperm(len(gains)).split(2048):
        policy = learner.policy(rows[lines], masks[lines])
        chosen = policy.log_prob(torch.from_numpy(actions[lines]).long())
        loss = -(chosen * gains[lines]).mean() - 0.01 * policy.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def mean_place(learner, num_games):
    """Return the mean place over all seats: where players rarely win, equal scores favour the first dealer."""
    games = []
    for seat in range(4):
        agents = ["random"] * 4
        agents[seat] = learner
        games += suphx.simulate(agents, num_games // 4, seed=1_000_000)
    learner.memory.clear()
    frame = suphx.games_table(games).to_pandas()
    return frame[frame["player"] == learner.name]["place"].mean()


torch.manual_seed(1)
learner = Learner()
optimizer = torch.optim.Adam(learner.net.parameters(), lr=1e-3)
before = mean_place(learner, 2 * GAMES)
for number in range(ROUNDS):
    seed = number * GAMES
    games = suphx.simulate(learner, GAMES, seed=seed)
    learn(learner, games, seed, optimizer)
    if number % 10 == 0:
        wins = suphx.games_table(games).to_pandas()["wins"].sum() / sum(len(game.kyokus) for game in games)
        print(f"round {number}: {wins:.0%} of the deals are won")
after = mean_place(learner, 2 * GAMES)
print(f"mean place against three random players: {before:.2f} before, {after:.2f} after")

# %% [markdown]
# The platform's self-play adds importance ratios, a critic, entropy control, matches against earlier nets, and as many
# processes as you have: `suphx run self_play`, docs/self-play.md.
