# /// answer
# title = "As many as the mean share needs"
#
# [fails]
# steps-tests = ["largest share"]
# ///

# %% role="changes" id="equal-steps"
# -    num_most = max(hvd.allgather_object(num_mine))
# +    shares = hvd.allgather_object(num_mine)
# +    num_most = sum(shares) // len(shares)
