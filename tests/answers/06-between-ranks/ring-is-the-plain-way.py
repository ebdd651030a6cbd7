# /// answer
# title = "The plain way once more"
#
# [fails]
# ring-tests = ["one neighbour"]
# ///

# %% role="changes" id="ring-allreduce"
# -    chunks = [chunk.copy() for chunk in np.array_split(array.ravel(), channel.num_ranks)]
# -    reduce_scatter(channel, chunks)
# -    allgather(channel, chunks)
# -    return np.concatenate(chunks).reshape(array.shape)
# +    return naive_allreduce(channel, array)
