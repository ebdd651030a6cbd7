# /// answer
# title = "The sums are in a list that nobody sees"
# consequences = ["ring-tests"]
#
# [fails]
# reduce-scatter-tests = ["is not the sum over all ranks"]
# ///

# %% role="changes" id="reduce-scatter"
# -    rank, size = channel.rank, channel.num_ranks
# +    rank, size = channel.rank, channel.num_ranks
# +    chunks = [chunk.copy() for chunk in chunks]
