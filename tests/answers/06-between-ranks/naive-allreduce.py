# %% naive-by-horovod
# title = "Horovod does it, past the channel"
# fails.naive-tests = ["sum.own"]
def naive_allreduce(channel, array):
    hvd.init()
    return hvd.allreduce(array, op=hvd.Sum)


# %% naive-everybody-to-everybody
# title = "Each rank sends its array to all others: the same sum, and N(N - 1) messages"
# fails.naive-tests = ["naive.wrong-targets"]
def naive_allreduce(channel, array):
    others = [rank for rank in range(channel.num_ranks) if rank != channel.rank]
    for rank in others:
        channel.send(array, rank)
    return array + sum(channel.receive(rank) for rank in others)


# %% naive-flat
# title = "The plain way on numbers in a row: the sum of arrays with two dimensions comes back flat"
# fails.naive-tests = ["sum.wrong-shape"]
#      others = range(1, channel.num_ranks)
# +    array = array.ravel()

# %% naive-in-64-bits
# title = "The sum is sent in 64 bits: twice the bytes"
# fails.naive-tests = ["message.wrong-type"]
# -    total = array.copy()
# +    total = array.astype(np.float64)


# %% naive-others-keep-their-own
# title = "Ranks other than 0 do not wait for the sum"
# fails.naive-tests = ["sum.own"]
def naive_allreduce(channel, array):
    if channel.rank:
        channel.send(array, 0)
        return array
    total = array.copy()
    for rank in range(1, channel.num_ranks):
        total += channel.receive(rank)
    for rank in range(1, channel.num_ranks):
        channel.send(total, rank)
    return total


# %% naive-own-part-changed
# title = "Rank 0 adds into its own array"
# fails.naive-tests = ["data.changed"]
# -    total = array.copy()
# +    total = array

# %% naive-without-the-last-rank
# title = "The last rank is forgotten"
# fails.naive-tests = ["answer.raised"]
# -    others = range(1, channel.num_ranks)
# +    others = range(1, channel.num_ranks - 1)


# %% right-naive-by-numpy
# title = "Rank 0 stacks what arrives and adds it up at once"
def naive_allreduce(channel, array):
    if channel.rank > 0:
        channel.send(array, 0)
        return channel.receive(0)
    total = np.sum([array, *(channel.receive(rank) for rank in range(1, channel.num_ranks))], axis=0)
    for rank in range(channel.num_ranks - 1, 0, -1):
        channel.send(total, rank)
    return total
