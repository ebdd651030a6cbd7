# /// answer
# title = "The whole array goes around in every step"
# consequences = ["ring-tests"]
#
# [fails]
# reduce-scatter-tests = ["a chunk has at most"]
# ///

# %% role="answer" id="reduce-scatter"
def reduce_scatter(channel, chunks):
    ends = np.cumsum([len(chunk) for chunk in chunks])[:-1]
    around = np.concatenate(chunks)
    total = around.copy()
    for _ in range(channel.num_ranks - 1):
        channel.send(around, (channel.rank + 1) % channel.num_ranks)
        around = channel.receive((channel.rank - 1) % channel.num_ranks)
        total = total + around
    chunks[:] = np.split(total, ends)
