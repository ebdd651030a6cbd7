# /// answer
# title = "The caller's own arrays are shuffled, both by one order"
#
# [fails]
# batches-tests = ["copy"]
# ///

# %% role="changes" id="batches"
# -    order = rng.permutation(len(x))
# +    order = rng.permutation(len(x))
# +    x[:], y[:] = x[order], y[order]

# -        picked = order[first : first + batch_size]
# +        picked = slice(first, first + batch_size)
