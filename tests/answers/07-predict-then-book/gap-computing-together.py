# /// answer
# title = "Computing together in place of alone"
#
# [fails]
# gap-tests = ["computing"]
# ///

# %% role="changes" id="explain-gap"
# -    return alone_s, together_s - alone_s, predicted_s, averaging_s - together_s - predicted_s
# +    return together_s, together_s - alone_s, predicted_s, averaging_s - together_s - predicted_s
