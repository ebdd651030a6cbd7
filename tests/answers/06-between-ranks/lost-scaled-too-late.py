# /// answer
# title = "Scaled after the cast"
#
# [fails]
# lost-tests = ["share lost"]
# ///

# %% role="changes" id="lost-share"
# -        halves = (gradients * np.float32(scale)).astype(np.float16)
# +        halves = gradients.astype(np.float16) * np.float16(scale)
