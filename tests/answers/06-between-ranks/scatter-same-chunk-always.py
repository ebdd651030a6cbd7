# /// answer
# title = "The same chunk is sent in every step"
# consequences = ["ring-tests"]
#
# [fails]
# reduce-scatter-tests = ["do not belong there"]
# ///

# %% role="changes" id="reduce-scatter"
# -        channel.send(chunks[(rank - step) % size], (rank + 1) % size)
# +        channel.send(chunks[rank], (rank + 1) % size)
