# /// answer
# title = "What is left over, with the sign turned"
#
# [fails]
# gap-tests = ["sign turned"]
# ///

# %% role="changes" id="explain-gap"
# -    return alone_s, together_s - alone_s, allreduce_s, averaging_s - together_s - allreduce_s
# +    return alone_s, together_s - alone_s, allreduce_s, together_s + allreduce_s - averaging_s
