# /// answer
# title = "What arrives is added, as in the first half"
# consequences = ["ring-tests"]
#
# [fails]
# allgather-tests = ["do not belong there"]
# ///

# %% role="changes" id="allgather"
# -        chunks[(rank - step) % size] = channel.receive((rank - 1) % size)
# +        chunks[(rank - step) % size] += channel.receive((rank - 1) % size)
