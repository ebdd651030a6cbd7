# /// answer
# title = "Cut into batches first, then shuffled: each batch always holds the same samples"
#
# [fails]
# batches-tests = ["neighbours"]
# ///

# %% role="changes" id="batches"
# -    order = rng.permutation(len(x))
# -    for first in range(0, len(x), batch_size):
# -        picked = order[first : first + batch_size]
# +    for first in range(0, len(x), batch_size):
# +        picked = rng.permutation(range(first, min(first + batch_size, len(x))))
