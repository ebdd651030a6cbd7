# /// answer
# title = "What is left over is cut off at zero"
#
# [fails]
# gap-tests = ["the unexplained"]
# ///

# %% role="changes" id="explain-gap"
# -    return alone_s, together_s - alone_s, predicted_s, averaging_s - together_s - predicted_s
# +    return alone_s, together_s - alone_s, predicted_s, max(0, averaging_s - together_s - predicted_s)
