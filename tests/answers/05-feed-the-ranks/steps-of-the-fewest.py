# /// answer
# title = "All stop with the rank that has the fewest: samples are lost"
#
# [fails]
# steps-tests = ["largest share"]
# ///

# %% role="changes" id="equal-steps"
# -    num_most = max(hvd.allgather_object(num_mine))
# +    num_most = min(hvd.allgather_object(num_mine))
