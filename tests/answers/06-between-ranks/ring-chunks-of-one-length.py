# /// answer
# title = "Chunks of one length, rounded up: an array shorter than the ring has too few of them"
#
# [fails]
# ring-tests = ["IndexError"]
# ///

# %% role="changes" id="ring-allreduce"
# -    chunks = [chunk.copy() for chunk in np.array_split(array.ravel(), channel.num_ranks)]
# +    length = -(-array.size // channel.num_ranks)
# +    chunks = [array.ravel()[first : first + length].copy() for first in range(0, array.size, length)]
