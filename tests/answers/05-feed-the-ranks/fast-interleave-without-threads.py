# /// answer
# title = "interleave without num_parallel_calls: files in turn, one at a time"
#
# [fails]
# faster-tests = ["times as fast"]
# ///

# %% role="changes" id="feed-fast"
# -    found = files.interleave(store.read, cycle_length=8, num_parallel_calls=8)
# +    found = files.interleave(store.read, cycle_length=8)
