# /// answer
# title = "What arrives is added to the chunk that was sent"
# consequences = ["ring-tests"]
#
# [fails]
# reduce-scatter-tests = ["do not belong there"]
# ///

# %% role="changes" id="reduce-scatter"
# -        chunks[(rank - step - 1) % size] += channel.receive((rank - 1) % size)
# +        chunks[(rank - step) % size] += channel.receive((rank - 1) % size)
