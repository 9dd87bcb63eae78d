# %% [markdown]
# # A first game
#
# Play games between agents, look at them as tables, and ask an agent what it would have done.
#
# On Colab, run this first: `!git clone ADDRESS_OF_THE_REPOSITORY suphx` and `%pip install "./suphx[learn,tables]"`.

# %%
import suphx

games = suphx.simulate(["ukeire", "tsumogiri", "tsumogiri", "tsumogiri"], 10, seed=1)
print(f"{len(games)} games, the first one with {len(games[0].kyokus)} deals: {games[0].names}")

# %% [markdown]
# One row per seat and game. `ukeire` plays for shanten and ukeire; `tsumogiri` discards whatever it draws.

# %%
frame = suphx.games_table(games).to_pandas()
summary = frame.groupby("player")[["place", "score", "wins", "deal_ins"]].mean()
print(summary.round(2))

# %% [markdown]
# How the deals ended, and the moves of the first deal.

# %%
deals = suphx.deals_table(games).to_pandas()
print(deals["result"].value_counts())
moves = suphx.moves_table(games).to_pandas()
first_deal = moves[(moves["game"] == games[0].id) & (moves["deal"] == 0)]
print(first_deal[["seat", "name"]].head(8).to_string(index=False))

# %% [markdown]
# Would `ukeire` have played as the others did? Nets also give probabilities: use the folder of a run, such as
# `runs/RUN/supervised`, instead of `ukeire`.

# %%
review = suphx.review(games[0], "ukeire").to_pandas()
agreement = review.groupby("seat")["agrees"].mean()
print(agreement.map("{:.0%}".format))

# %% [markdown]
# Who is better? A match plays the same walls in all seats, and reports an interval.

# %%
report = suphx.play_match("ukeire", "tsumogiri", num_hanchans=24, seed=1)
print(report.verdict())
