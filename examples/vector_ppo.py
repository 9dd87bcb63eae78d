"""PPO in one file, in the style of CleanRL: learn to beat random players on the vector environment.

python examples/vector_ppo.py [MINUTES [TABLES]]; the default, 8 minutes of training on 128 tables and one core, ends
with a match on other walls: the mean place (1 to 4, 2.5 is what a random player has) and its 95 % interval.
"""

import sys
import time

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

from suphx import PolicyAgent, play_match
from suphx.environments.riichi_env import RiichiVectorEnv

MINUTES = float(sys.argv[1]) if len(sys.argv) > 1 else 8.0
TABLES = int(sys.argv[2]) if len(sys.argv) > 2 else 128
STEPS = 64  # of each table in an iteration
EPOCHS, MINIBATCHES = 2, 8
GAMMA, GAE_LAMBDA = 0.995, 0.95
CLIP, ENTROPY, VALUE, MAX_GRAD_NORM = 0.2, 0.01, 0.5, 0.5
LEARNING_RATE = 7e-4
TEST_GAMES = 512


class Net(nn.Module):
    """A linear layer over all bits of the packed planes, then two heads: logits of 120 actions, and the value."""

    def __init__(self, observation_bytes, num_actions):
        super().__init__()
        self.register_buffer("bits", 2 ** torch.arange(8, dtype=torch.uint8))
        self.trunk = nn.Sequential(nn.Linear(8 * observation_bytes, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU())
        self.policy, self.value = nn.Linear(128, num_actions), nn.Linear(128, 1)
        nn.init.zeros_(self.policy.weight)
        nn.init.zeros_(self.value.weight)

    def forward(self, rows, masks):
        planes = (rows.unsqueeze(-1) & self.bits).ne(0).flatten(1).float()
        features = self.trunk(planes)
        logits = self.policy(features).masked_fill(~masks, -1e9)
        return Categorical(logits=logits), self.value(features).squeeze(1)


class Rollout:
    """The buffers of an iteration, [STEPS, TABLES]."""

    def __init__(self, envs):
        shape = (STEPS, TABLES)
        self.rows = torch.zeros(*shape, *envs.single_observation_space.shape, dtype=torch.uint8)
        self.masks = torch.zeros(*shape, envs.single_action_space.n, dtype=torch.bool)
        self.actions = torch.zeros(shape, dtype=torch.long)
        self.log_probs, self.values, self.rewards, self.dones = (torch.zeros(shape) for _ in range(4))


def collect(envs, net, rollout, state):
    """Play STEPS steps of all tables; return the observations and masks that follow, and the ends of the last step.

    A game ends in the step that pays its last reward; the observation after it is the first one of the next game.
    """
    rows, masks = state
    for step in range(STEPS):
        rollout.rows[step], rollout.masks[step] = rows, masks
        with torch.no_grad():
            policy, rollout.values[step] = net(rows, masks)
            rollout.actions[step] = policy.sample()
            rollout.log_probs[step] = policy.log_prob(rollout.actions[step])
        seen, rewards, ended, _, infos = envs.step(rollout.actions[step].numpy())
        rollout.rewards[step] = torch.from_numpy(rewards)
        rollout.dones[step] = torch.from_numpy(ended)
        rows, masks = torch.from_numpy(seen), torch.from_numpy(infos["action_mask"]).bool()
    return rows, masks


def advantages(rollout, next_values):
    """Return generalized advantages [STEPS, TABLES] (Schulman et al. 2016)."""
    result, last = torch.zeros_like(rollout.rewards), 0.0
    for step in reversed(range(STEPS)):
        goes_on = 1 - rollout.dones[step]
        delta = rollout.rewards[step] + GAMMA * next_values * goes_on - rollout.values[step]
        last = delta + GAMMA * GAE_LAMBDA * goes_on * last
        result[step], next_values = last, rollout.values[step]
    return result


def update(net, optimizer, rollout, gains):
    """Make EPOCHS passes over the rollout in minibatches; return the mean entropy."""
    flat = [x.flatten(0, 1) for x in (rollout.rows, rollout.masks, rollout.actions, rollout.log_probs, gains)]
    targets = (gains + rollout.values).flatten()
    entropies = []
    for _ in range(EPOCHS):
        for batch in torch.randperm(STEPS * TABLES).chunk(MINIBATCHES):
            rows, masks, actions, old_log_probs, gain = (x[batch] for x in flat)
            policy, values = net(rows, masks)
            ratio = (policy.log_prob(actions) - old_log_probs).exp()
            gain = (gain - gain.mean()) / (gain.std() + 1e-8)
            policy_loss = -torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
            value_loss = (values - targets[batch]).square().mean()
            entropy = policy.entropy().mean()
            loss = policy_loss + VALUE * value_loss - ENTROPY * entropy
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), MAX_GRAD_NORM)
            optimizer.step()
            entropies.append(entropy.item())
    return np.mean(entropies)


@torch.no_grad()
def test(net, games):
    """Return the report of a match against random players, on walls that training never had."""

    def policy(rows, masks):
        return net(torch.from_numpy(rows), torch.from_numpy(masks).bool())[0].sample()

    return play_match(PolicyAgent("ppo", policy, packed=True), "random", num_hanchans=games, seed=1)


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    envs = RiichiVectorEnv(TABLES, opponents="random", packed=True, autoreset_mode="SameStep")
    net = Net(envs.single_observation_space.shape[0], envs.single_action_space.n)
    optimizer = torch.optim.Adam(net.parameters(), lr=LEARNING_RATE, eps=1e-5)
    rollout = Rollout(envs)
    seen, infos = envs.reset(seed=1)
    state = torch.from_numpy(seen), torch.from_numpy(infos["action_mask"]).bool()
    started, iteration = time.monotonic(), 0
    while iteration == 0 or time.monotonic() - started < 60 * MINUTES:
        state = collect(envs, net, rollout, state)
        with torch.no_grad():
            _, next_values = net(*state)
        entropy = update(net, optimizer, rollout, advantages(rollout, next_values))
        iteration += 1
        if iteration % 10 == 1:
            mean_reward = (rollout.rewards.sum() / rollout.dones.sum().clamp(min=1)).item()
            print(f"iteration {iteration}: {iteration * STEPS * TABLES:,} steps, entropy {entropy:.2f}, "
                  f"reward per game {mean_reward:+.2f}", flush=True)  # fmt: skip
    report = test(net, TEST_GAMES if MINUTES >= 1 else 16)
    place, interval = report.statistics.average_placement, report.statistics.intervals["average_placement"]
    print(f"mean place {place:.3f} ({interval.low:.3f} to {interval.high:.3f}) "
          f"of {report.games} games against random players")  # fmt: skip


if __name__ == "__main__":
    main()
