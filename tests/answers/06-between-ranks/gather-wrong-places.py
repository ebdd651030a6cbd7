# /// answer
# title = "Finished chunks are put one place too far"
# consequences = ["ring-tests"]
#
# [fails]
# allgather-tests = ["do not belong there"]
# ///

# %% role="changes" id="allgather"
# -        chunks[(rank - step) % size] = channel.receive((rank - 1) % size)
# +        chunks[(rank - step + 1) % size] = channel.receive((rank - 1) % size)
