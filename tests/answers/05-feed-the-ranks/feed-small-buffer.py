# /// answer
# title = "A buffer of three samples, which hardly mixes"
#
# [fails]
# feed-order-tests = ["comes from the first"]
# ///

# %% role="changes" id="feed"
# -    shuffled = loaded.shuffle(1000, seed=seed)
# +    shuffled = loaded.shuffle(3, seed=seed)
