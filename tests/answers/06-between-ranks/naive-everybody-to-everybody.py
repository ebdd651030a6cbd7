# /// answer
# title = "Each rank sends its array to all others: the same sum, and N(N - 1) messages"
#
# [fails]
# naive-tests = ["ranks to which rank 1 sends"]
# ///

# %% role="answer" id="naive-allreduce"
def naive_allreduce(channel, array):
    others = [rank for rank in range(channel.num_ranks) if rank != channel.rank]
    for rank in others:
        channel.send(array, rank)
    return array + sum(channel.receive(rank) for rank in others)
