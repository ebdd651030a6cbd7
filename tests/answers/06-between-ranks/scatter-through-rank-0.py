# /// answer
# title = "Everything goes to rank 0, which sends each rank its chunk"
# consequences = ["ring-tests"]
#
# [fails]
# reduce-scatter-tests = ["one neighbour"]
# ///

# %% role="answer" id="reduce-scatter"
def reduce_scatter(channel, chunks):
    size, mine = channel.num_ranks, (channel.rank + 1) % channel.num_ranks
    if channel.rank:
        channel.send(np.concatenate(chunks), 0)
        chunks[mine] = channel.receive(0)
        return
    ends = np.cumsum([len(chunk) for chunk in chunks])[:-1]
    for rank in range(1, size):
        for chunk, part in zip(chunks, np.split(channel.receive(rank), ends)):
            chunk += part
    for rank in range(1, size):
        channel.send(chunks[(rank + 1) % size], rank)
