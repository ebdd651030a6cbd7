# /// answer
# title = "N steps: each rank gets its own chunk back at last"
# consequences = ["ring-tests"]
#
# [fails]
# allgather-tests = ["number of messages"]
# ///

# %% role="changes" id="allgather"
# -    for step in range(size - 1):
# +    for step in range(size):
