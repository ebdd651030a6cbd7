# /// answer
# title = "Each rank sends its finished chunk to all others: as many bytes, and no ring"
# consequences = ["ring-tests"]
#
# [fails]
# allgather-tests = ["one neighbour"]
# ///

# %% role="answer" id="allgather"
def allgather(channel, chunks):
    rank, size = channel.rank, channel.num_ranks
    for other in range(size):
        if other != rank:
            channel.send(chunks[(rank + 1) % size], other)
    for other in range(size):
        if other != rank:
            chunks[(other + 1) % size] = channel.receive(other)
