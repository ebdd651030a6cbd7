# /// answer
# title = "An order that is drawn once"
#
# [fails]
# feed-order-tests = ["same order"]
# ///

# %% role="changes" id="feed"
# -    shuffled = loaded.shuffle(1000, seed=seed)
# +    shuffled = loaded.shuffle(1000, seed=seed, reshuffle_each_iteration=False)
