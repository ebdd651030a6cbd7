# /// answer
# title = "Ranks other than 0 do not wait for the sum"
#
# [fails]
# naive-tests = ["own array"]
# ///

# %% role="answer" id="naive-allreduce"
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
