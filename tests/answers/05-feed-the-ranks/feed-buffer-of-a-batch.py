# /// answer
# title = "A buffer as large as a batch, which mixes neighbours only"
#
# [fails]
# feed-order-tests = ["comes from the first"]
# ///

# %% role="changes" id="feed"
# -    shuffled = loaded.shuffle(1000, seed=seed)
# +    shuffled = loaded.shuffle(batch_size, seed=seed)
