# /// answer
# title = "Computing together in place of alone"
#
# [fails]
# gap-tests = ["computing"]
# ///

# %% role="changes" id="explain-gap"
# -    return alone_s, together_s - alone_s, allreduce_s, averaging_s - together_s - allreduce_s
# +    return together_s, together_s - alone_s, allreduce_s, averaging_s - together_s - allreduce_s
