# /// answer
# title = "The step ends before computing does"
#
# [fails]
# overlap-tests = ["cannot end before"]
# ///

# %% role="changes" id="overlapped-s"
# -    return max(free_s, compute_s)
# +    return free_s
