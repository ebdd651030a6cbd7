# /// answer
# title = "Sharing counts as unexplained a second time"
#
# [fails]
# gap-tests = ["the unexplained"]
# ///

# %% role="changes" id="explain-gap"
# -    return alone_s, together_s - alone_s, predicted_s, averaging_s - together_s - predicted_s
# +    return alone_s, together_s - alone_s, predicted_s, averaging_s - alone_s - predicted_s
