# %% [markdown]
# # Learn from records
#
# Read game records, encode the discards, and train a small net in plain PyTorch to predict them.
# `python examples/notebooks/learn_from_records.py [RECORDS]`: a file or folder of at least two records
# (docs/records.md). Without it, the scripted agent ukeire plays games first, and they are written and read as records.
#
# On Colab, run this first: `!git clone ADDRESS_OF_THE_REPOSITORY suphx` and `%pip install "./suphx[learn,tables]"`.

# %%
import sys
import tempfile

import numpy as np
import torch
from torch import nn

import suphx

STEPS = 200
arguments = [] if "ipykernel" in sys.modules else sys.argv[1:]  # Jupyter's own arguments are not ours
with tempfile.TemporaryDirectory() as folder:
    if not arguments:
        suphx.save_games(suphx.simulate("ukeire", 12, seed=1), folder)
    records = arguments[0] if arguments else folder
    games = suphx.load_games(records, 200)
if len(games) < 2:
    sys.exit(f"{records} has one game: give at least two games, one to learn from and one for the test")
print(f"{len(games)} games, {suphx.deals_table(games).num_rows} deals")

# %% [markdown]
# The encoder `mini` has 288 planes for a discard: what the player saw, by kind of tile. The label is the kind that was
# discarded. The last tenth of the games is for the test.

# %%
split = len(games) - max(1, len(games) // 10)
train, test = (suphx.encode(part, "discard", "mini") for part in (games[:split], games[split:]))
print(
    f"{len(train.labels):,} discards to learn from, {len(test.labels):,} for the test; planes {train.planes.shape[1:]}"
)


# %% [markdown]
# Kinds that may not be discarded get no probability.


# %%
class Net(nn.Module):
    def __init__(self, num_planes):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(num_planes, 32, 3, padding=1), nn.ReLU(), nn.Conv1d(32, 32, 3, padding=1), nn.ReLU(),
            nn.Flatten(), nn.Linear(32 * 34, 34),
        )  # fmt: skip

    def forward(self, planes, masks):
        return self.layers(planes.float()).masked_fill(masks == 0, -1e9)


def batch_of(encoded, lines):
    planes, masks, labels = (
        torch.from_numpy(array[lines]) for array in (encoded.planes, encoded.masks, encoded.labels)
    )
    return planes, masks, labels.long()


torch.manual_seed(1)
net = Net(train.planes.shape[1])
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
random = np.random.default_rng(1)
losses = []
for _ in range(STEPS):
    planes, masks, labels = batch_of(train, random.integers(len(train.labels), size=128))
    loss = nn.functional.cross_entropy(net(planes, masks), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print(f"loss {np.mean(losses[:20]):.2f} at the start, {np.mean(losses[-20:]):.2f} at the end")

# %%
with torch.no_grad():
    planes, masks, labels = batch_of(test, np.arange(len(test.labels)))
    accuracy = (net(planes, masks).argmax(dim=1) == labels).float().mean().item()
chance = (1 / masks.sum(dim=1)).mean().item()
print(f"test accuracy {accuracy:.1%}; a random legal discard is right in {chance:.1%}")

# %% [markdown]
# The platform does this for five nets, with the paper's planes and nets, checkpoints and a report:
# `suphx run laptop --records RECORDS`.
