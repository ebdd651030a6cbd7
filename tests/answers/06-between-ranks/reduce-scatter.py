# %% right-scatter-with-neighbours
# title = "Neighbours have names, and a number goes down"
def reduce_scatter(channel, chunks):
    size = channel.num_ranks
    right, left = (channel.rank + 1) % size, (channel.rank - 1) % size
    number = channel.rank
    for _ in range(size - 1):
        channel.send(chunks[number], right)
        number = (number - 1) % size
        chunks[number] = chunks[number] + channel.receive(left)


# %% scatter-does-not-add
# title = "What arrives takes the place of the chunk"
# fails.reduce-scatter-tests = ["ring.not-added"]
# consequences = ["ring-tests"]
# -        chunks[(rank - step - 1) % size] += channel.receive((rank - 1) % size)
# +        chunks[(rank - step - 1) % size] = channel.receive((rank - 1) % size)

# %% scatter-in-a-list-of-its-own
# title = "The sums are in a list that nobody sees"
# fails.reduce-scatter-tests = ["chunk.wrong"]
# consequences = ["ring-tests"]
# -    rank, size = channel.rank, channel.num_ranks
# +    rank, size = channel.rank, channel.num_ranks
# +    chunks = [chunk.copy() for chunk in chunks]

# %% scatter-one-step-too-many
# title = "N steps: the rank's own part is added twice"
# fails.reduce-scatter-tests = ["ring.wrong-number"]
# consequences = ["ring-tests"]
# -    for step in range(size - 1):
# +    for step in range(size):

# %% scatter-receives-first
# title = "Every rank receives before it sends: a deadlock"
# fails.reduce-scatter-tests = ["answer.raised"]
# consequences = ["ring-tests"]
# -        channel.send(chunks[(rank - step) % size], (rank + 1) % size)
# -        chunks[(rank - step - 1) % size] += channel.receive((rank - 1) % size)
# +        arrived = channel.receive((rank - 1) % size)
# +        channel.send(chunks[(rank - step) % size], (rank + 1) % size)
# +        chunks[(rank - step - 1) % size] += arrived


# %% scatter-through-rank-0
# title = "Everything goes to rank 0, which sends each rank its chunk"
# fails.reduce-scatter-tests = ["ring.no-neighbour"]
# consequences = ["ring-tests"]
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


# %% scatter-to-the-left
# title = "The ring is turned around"
# fails.reduce-scatter-tests = ["ring.to-the-left"]
# consequences = ["ring-tests"]
# -        channel.send(chunks[(rank - step) % size], (rank + 1) % size)
# -        chunks[(rank - step - 1) % size] += channel.receive((rank - 1) % size)
# +        channel.send(chunks[(rank + step) % size], (rank - 1) % size)
# +        chunks[(rank + step + 1) % size] += channel.receive((rank + 1) % size)


# %% scatter-whole-array-each-time
# title = "The whole array goes around in every step"
# fails.reduce-scatter-tests = ["ring.chunk-too-long"]
# consequences = ["ring-tests"]
def reduce_scatter(channel, chunks):
    ends = np.cumsum([len(chunk) for chunk in chunks])[:-1]
    around = np.concatenate(chunks)
    total = around.copy()
    for _ in range(channel.num_ranks - 1):
        channel.send(around, (channel.rank + 1) % channel.num_ranks)
        around = channel.receive((channel.rank - 1) % channel.num_ranks)
        total = total + around
    chunks[:] = np.split(total, ends)
