# %% gather-begins-with-its-own
# title = "It begins with chunk number rank, which is not finished"
# fails.allgather-tests = ["ring.not-added"]
# consequences = ["ring-tests"]
# -        channel.send(chunks[(rank + 1 - step) % size], (rank + 1) % size)
# -        chunks[(rank - step) % size] = channel.receive((rank - 1) % size)
# +        channel.send(chunks[(rank - step) % size], (rank + 1) % size)
# +        chunks[(rank - step - 1) % size] = channel.receive((rank - 1) % size)

# %% gather-one-step-too-many
# title = "N steps: each rank gets its own chunk back at last"
# fails.allgather-tests = ["ring.wrong-number"]
# consequences = ["ring-tests"]
# -    for step in range(size - 1):
# +    for step in range(size):

# %% gather-to-all-at-once
# title = "Each rank sends its finished chunk to all others: as many bytes, and no ring"
# fails.allgather-tests = ["ring.no-neighbour"]
# consequences = ["ring-tests"]
def allgather(channel, chunks):
    rank, size = channel.rank, channel.num_ranks
    for other in range(size):
        if other != rank:
            channel.send(chunks[(rank + 1) % size], other)
    for other in range(size):
        if other != rank:
            chunks[(other + 1) % size] = channel.receive(other)


# %% right-gather-passes-on
# title = "What has arrived is passed on"
def allgather(channel, chunks):
    size = channel.num_ranks
    number = (channel.rank + 1) % size
    passed = chunks[number]
    for _ in range(size - 1):
        channel.send(passed, (channel.rank + 1) % size)
        passed = channel.receive((channel.rank - 1) % size)
        number = (number - 1) % size
        chunks[number][...] = passed
