# /// answer
# title = "A ring of its own, to the left, without the functions above"
# ///

# %% role="answer" id="ring-allreduce"
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
