# /// answer
# title = "Each rank counts for itself: the others wait"
#
# [fails]
# steps-tests = ["largest share"]
# ///

# %% role="changes" id="equal-steps"
# -    num_most = max(hvd.allgather_object(num_mine))
# +    num_most = num_mine
