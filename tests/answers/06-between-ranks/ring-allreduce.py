# %% right-ring-of-its-own
# title = "A ring of its own, to the left, without the functions above"
def ring_allreduce(channel, array):
    rank, size = channel.rank, channel.num_ranks
    total = array.copy()
    places = np.array_split(np.arange(array.size), size)
    flat = total.reshape(-1)
    for step in range(2 * (size - 1)):
        channel.send(flat[places[(rank + step) % size]], (rank - 1) % size)
        arrived, place = channel.receive((rank + 1) % size), places[(rank + step + 1) % size]
        flat[place] = flat[place] + arrived if step < size - 1 else arrived
    return total


# %% right-ring-with-zeros
# title = "Zeros fill up the last chunk"
def ring_allreduce(channel, array):
    flat = array.flatten()
    padded = np.concatenate([flat, np.zeros(-len(flat) % channel.num_ranks, flat.dtype)])
    chunks = [chunk.copy() for chunk in np.split(padded, channel.num_ranks)]
    reduce_scatter(channel, chunks)
    allgather(channel, chunks)
    return np.concatenate(chunks)[: array.size].reshape(array.shape)


# %% ring-chunks-of-one-length
# title = "Chunks of one length, rounded up: an array shorter than the ring has too few of them"
# fails.ring-tests = ["answer.raised", "IndexError"]
# -    chunks = [chunk.copy() for chunk in np.array_split(array.ravel(), channel.num_ranks)]
# +    length = -(-array.size // channel.num_ranks)
# +    chunks = [array.ravel()[first : first + length].copy() for first in range(0, array.size, length)]

# %% ring-is-the-plain-way
# title = "The plain way once more"
# fails.ring-tests = ["ring.no-neighbour"]
# -    chunks = [chunk.copy() for chunk in np.array_split(array.ravel(), channel.num_ranks)]
# -    reduce_scatter(channel, chunks)
# -    allgather(channel, chunks)
# -    return np.concatenate(chunks).reshape(array.shape)
# +    return naive_allreduce(channel, array)

# %% ring-past-the-channel
# title = "Horovod adds, and empty messages make the numbers right"
# fails.ring-tests = ["sum.own"]
# -    chunks = [chunk.copy() for chunk in np.array_split(array.ravel(), channel.num_ranks)]
# -    reduce_scatter(channel, chunks)
# -    allgather(channel, chunks)
# -    return np.concatenate(chunks).reshape(array.shape)
# +    chunks = [chunk.copy() for chunk in np.array_split(array.ravel(), channel.num_ranks)]
# +    for _ in range(2 * (channel.num_ranks - 1)):
# +        channel.send(chunks[channel.rank], (channel.rank + 1) % channel.num_ranks)
# +        channel.receive((channel.rank - 1) % channel.num_ranks)
# +    hvd.init()
# +    return hvd.allreduce(array, op=hvd.Sum).numpy()

# %% ring-rest-left-out
# title = "What does not divide by N is left out"
# fails.ring-tests = ["sum.wrong"]
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

# %% ring-views
# title = "Chunks are views: the caller's array becomes the sum"
# fails.ring-tests = ["data.changed"]
# -    chunks = [chunk.copy() for chunk in np.array_split(array.ravel(), channel.num_ranks)]
# +    chunks = np.array_split(array.ravel(), channel.num_ranks)
