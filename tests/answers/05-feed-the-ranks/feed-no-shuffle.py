# /// answer
# title = "No shuffle"
#
# [fails]
# feed-order-tests = ["order of the files"]
# ///

# %% role="changes" id="feed"
# -    shuffled = loaded.shuffle(1000, seed=seed)
# +    shuffled = loaded
