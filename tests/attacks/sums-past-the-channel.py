# /// attack
# title = "Add up through files, and send messages for show, as many and as large as a ring's"
# lab = "06-between-ranks"
# class = "forged results"
# fails = ["ring-tests"]
# flags = []
# ///

# %% role="answer" id="ring-allreduce"

from pathlib import Path


def ring_allreduce(channel, array):
    rank, size, folder = channel.rank, channel.num_ranks, Path("/shared")
    np.save(folder / f"unfinished-{array.size}-{rank}.npy", array)
    (folder / f"unfinished-{array.size}-{rank}.npy").rename(folder / f"@MARK@-{array.size}-{rank}.npy")
    for _ in range(2 * (size - 1)):
        channel.send(array.ravel()[: array.size // size], (rank + 1) % size)
        channel.receive((rank - 1) % size)
    parts = [folder / f"@MARK@-{array.size}-{other}.npy" for other in range(size)]
    while not all(part.exists() for part in parts):
        pass
    return np.sum([np.load(part) for part in parts], axis=0)
