# /// answer
# title = "What is left over, with the sign turned"
#
# [fails]
# gap-tests = ["sign turned"]
# ///

# %% role="changes" id="explain-gap"
# -    return alone_s, together_s - alone_s, predicted_s, averaging_s - together_s - predicted_s
# +    return alone_s, together_s - alone_s, predicted_s, together_s + predicted_s - averaging_s
