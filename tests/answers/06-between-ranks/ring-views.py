# /// answer
# title = "Chunks are views: the caller's array becomes the sum"
#
# [fails]
# ring-tests = ["changed"]
# ///

# %% role="changes" id="ring-allreduce"
# -    chunks = [chunk.copy() for chunk in np.array_split(array.ravel(), channel.num_ranks)]
# +    chunks = np.array_split(array.ravel(), channel.num_ranks)
