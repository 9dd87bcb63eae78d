# %% [markdown]
# # Self-play
#
# One small net plays all four seats against itself and learns from the points of each deal, by policy gradient
# (REINFORCE). `python examples/notebooks/self_play.py [ROUNDS [GAMES]]`: 30 rounds of 64 games take some minutes.
#
# On Colab, run this first: `!git clone ADDRESS_OF_THE_REPOSITORY suphx` and `%pip install "./suphx[learn,tables]"`.

# %%
import sys

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import suphx

arguments = [] if "ipykernel" in sys.modules else sys.argv[1:]  # Jupyter's own arguments are not ours
ROUNDS, GAMES = (int(text) for text in (*arguments, *("30", "64")[len(arguments) :]))
MATCH_GAMES = 4 * max(2, GAMES // 2)  # each wall is played four times, the learner once at each seat

# %% [markdown]
# A `PolicyAgent` sees what the environments show (docs/environments.md). This one samples its actions and remembers
# them, with the game (the seed of its walls), the deal and the seat.


# %%
class Learner(suphx.PolicyAgent):
    def __init__(self):
        super().__init__("learner", self.choose, packed=True)
        num_bits = 8 * self.layout.observation_bytes
        self.net = nn.Sequential(nn.Linear(num_bits, 128), nn.ReLU(), nn.Linear(128, suphx.NUM_ACTIONS))
        self.memory = []

    def policy(self, rows, masks):
        bits = torch.from_numpy(np.unpackbits(rows, axis=1, bitorder="little")).float()
        return Categorical(logits=self.net(bits).masked_fill(torch.from_numpy(masks) == 0, -1e9))

    def choose(self, rows, masks):
        with torch.no_grad():
            actions = self.policy(rows, masks).sample().numpy()
        self.memory.append([rows, masks, actions])
        return actions

    def act(self, tables, indices):
        actions = super().act(tables, indices)
        self.memory[-1] += [tables[name][indices] for name in ("wall_seed", "num_kyoku", "actor")]
        return actions


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
    """Return the mean place in a match against three random players, on walls that no round has."""
    report = suphx.play_match(learner, "random", num_hanchans=num_games, seed=1)
    learner.memory.clear()
    return report.statistics.average_placement


torch.manual_seed(1)
learner = Learner()
optimizer = torch.optim.Adam(learner.net.parameters(), lr=1e-3)
before = mean_place(learner, MATCH_GAMES)
for number in range(ROUNDS):
    seed = number * GAMES
    games = suphx.simulate(learner, GAMES, seed=seed)
    learn(learner, games, seed, optimizer)
    if number % 10 == 0:
        wins = suphx.games_table(games).to_pandas()["wins"].sum() / sum(len(game.kyokus) for game in games)
        print(f"round {number}: {wins:.0%} of the deals are won")
after = mean_place(learner, MATCH_GAMES)
print(f"mean place against three random players: {before:.2f} before, {after:.2f} after")

# %% [markdown]
# The platform's self-play adds importance ratios, a critic, entropy control, matches against earlier nets, and as many
# processes as you have: `suphx run self_play`, docs/self-play.md.
