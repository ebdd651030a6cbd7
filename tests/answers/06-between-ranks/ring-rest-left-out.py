# /// answer
# title = "What does not divide by N is left out"
#
# [fails]
# ring-tests = ["not the sum over all ranks"]
# ///

# %% role="changes" id="ring-allreduce"
# -    chunks = [chunk.copy() for chunk in np.array_split(array.ravel(), channel.num_ranks)]
# -    reduce_scatter(channel, chunks)
# -    allgather(channel, chunks)
# -    return np.concatenate(chunks).reshape(array.shape)
# +    total, each = array.ravel().copy(), array.size // channel.num_ranks
# +    chunks = [total[each * number : each * (number + 1)].copy() for number in range(channel.num_ranks)]
# +    reduce_scatter(channel, chunks)
# +    allgather(channel, chunks)
# +    total[: each * channel.num_ranks] = np.concatenate(chunks)
# +    return total.reshape(array.shape)
