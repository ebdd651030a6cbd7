# /// answer
# title = "Sharing that is never negative"
#
# [fails]
# gap-tests = ["it may be negative"]
# ///

# %% role="changes" id="explain-gap"
# -    return alone_s, together_s - alone_s, predicted_s, averaging_s - together_s - predicted_s
# +    return alone_s, max(0, together_s - alone_s), predicted_s, averaging_s - together_s - predicted_s
