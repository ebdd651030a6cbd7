# /// answer
# title = "Every rank receives before it sends: a deadlock"
# consequences = ["ring-tests"]
#
# [fails]
# reduce-scatter-tests = ["for a message of rank"]
# ///

# %% role="changes" id="reduce-scatter"
# -        channel.send(chunks[(rank - step) % size], (rank + 1) % size)
# -        chunks[(rank - step - 1) % size] += channel.receive((rank - 1) % size)
# +        arrived = channel.receive((rank - 1) % size)
# +        channel.send(chunks[(rank - step) % size], (rank + 1) % size)
# +        chunks[(rank - step - 1) % size] += arrived
