# /// answer
# title = "It begins with chunk number rank, which is not finished"
# consequences = ["ring-tests"]
#
# [fails]
# allgather-tests = ["do not belong there"]
# ///

# %% role="changes" id="allgather"
# -        channel.send(chunks[(rank + 1 - step) % size], (rank + 1) % size)
# -        chunks[(rank - step) % size] = channel.receive((rank - 1) % size)
# +        channel.send(chunks[(rank - step) % size], (rank + 1) % size)
# +        chunks[(rank - step - 1) % size] = channel.receive((rank - 1) % size)
