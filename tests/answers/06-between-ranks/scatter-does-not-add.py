# /// answer
# title = "What arrives takes the place of the chunk"
# consequences = ["ring-tests"]
#
# [fails]
# reduce-scatter-tests = ["do not belong there"]
# ///

# %% role="changes" id="reduce-scatter"
# -        chunks[(rank - step - 1) % size] += channel.receive((rank - 1) % size)
# +        chunks[(rank - step - 1) % size] = channel.receive((rank - 1) % size)
