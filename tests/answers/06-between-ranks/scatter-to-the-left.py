# /// answer
# title = "The ring is turned around"
# consequences = ["ring-tests"]
#
# [fails]
# reduce-scatter-tests = ["sends to the left"]
# ///

# %% role="changes" id="reduce-scatter"
# -        channel.send(chunks[(rank - step) % size], (rank + 1) % size)
# -        chunks[(rank - step - 1) % size] += channel.receive((rank - 1) % size)
# +        channel.send(chunks[(rank + step) % size], (rank - 1) % size)
# +        chunks[(rank + step + 1) % size] += channel.receive((rank + 1) % size)
