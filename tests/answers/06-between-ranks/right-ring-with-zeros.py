# /// answer
# title = "Zeros fill up the last chunk"
# ///

# %% role="answer" id="ring-allreduce"
def ring_allreduce(channel, array):
    flat = array.flatten()
    padded = np.concatenate([flat, np.zeros(-len(flat) % channel.num_ranks, flat.dtype)])
    chunks = [chunk.copy() for chunk in np.split(padded, channel.num_ranks)]
    reduce_scatter(channel, chunks)
    allgather(channel, chunks)
    return np.concatenate(chunks)[: array.size].reshape(array.shape)
