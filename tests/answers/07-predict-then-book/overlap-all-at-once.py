# /// answer
# title = "The link carries all gradients at the same time"
#
# [fails]
# overlap-tests = ["at the same time"]
# ///

# %% role="changes" id="overlapped-s"
# -        free_s = max(free_s, ready) + travel
# +        free_s = max(free_s, ready + travel)
