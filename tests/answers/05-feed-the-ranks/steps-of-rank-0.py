# /// answer
# title = "As many as rank 0 needs, sent to all"
#
# [fails]
# steps-tests = ["largest share"]
# ///

# %% role="changes" id="equal-steps"
# -    num_most = max(hvd.allgather_object(num_mine))
# +    num_most = hvd.broadcast_object(num_mine, root_rank=0)
