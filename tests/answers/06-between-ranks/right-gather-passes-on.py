# /// answer
# title = "What has arrived is passed on"
# ///

# %% role="answer" id="allgather"
def allgather(channel, chunks):
    size = channel.num_ranks
    number = (channel.rank + 1) % size
    passed = chunks[number]
    for _ in range(size - 1):
        channel.send(passed, (channel.rank + 1) % size)
        passed = channel.receive((channel.rank - 1) % size)
        number = (number - 1) % size
        chunks[number][...] = passed
