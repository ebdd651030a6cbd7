# /// answer
# title = "Neighbours have names, and a number goes down"
# ///

# %% role="answer" id="reduce-scatter"
def reduce_scatter(channel, chunks):
    size = channel.num_ranks
    right, left = (channel.rank + 1) % size, (channel.rank - 1) % size
    number = channel.rank
    for _ in range(size - 1):
        channel.send(chunks[number], right)
        number = (number - 1) % size
        chunks[number] = chunks[number] + channel.receive(left)
