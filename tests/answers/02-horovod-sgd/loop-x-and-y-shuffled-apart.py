# /// answer
# title = "x and y are shuffled by two permutations"
#
# [fails]
# horovod-serial-tests = ["one process"]
# ///

# %% role="changes" id="train-horovod"
# -    x, y = shard(x, y)
# +    x, y = shard(x, y)
# +    x, y = np.random.permutation(x), np.random.permutation(y)
