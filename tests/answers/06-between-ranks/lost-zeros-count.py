# /// answer
# title = "Zeros count as lost"
#
# [fails]
# lost-tests = ["share lost"]
# ///

# %% role="changes" id="lost-share"
# -    return np.mean(is_lost[gradients != 0])
# +    return np.mean(is_lost)
