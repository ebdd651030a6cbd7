# /// answer
# title = "The batch size is ignored: one batch of all samples"
#
# [fails]
# batches-tests = ["batches of"]
# ///

# %% role="changes" id="batches"
# -    for first in range(0, len(x), batch_size):
# -        picked = order[first : first + batch_size]
# -        yield x[picked], y[picked]
# +    yield x[order], y[order]
