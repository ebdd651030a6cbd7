# /// answer
# title = "Without the second half: each rank has one finished chunk"
#
# [fails]
# ring-tests = ["not the sum over all ranks"]
# ///

# %% role="changes" id="ring-allreduce"
# -    allgather(channel, chunks)
