# /// answer
# title = "The share of all gradients, zeros too"
#
# [fails]
# lost-tests = ["share lost"]
# ///

# %% role="changes" id="lost-share"
# -    return np.mean(is_lost[gradients != 0])
# +    return np.mean(is_lost & (gradients != 0))
