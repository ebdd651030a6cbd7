# /// answer
# title = "Computing, and then all gradients"
#
# [fails]
# overlap-tests = ["and then all gradients"]
# ///

# %% role="changes" id="overlapped-s"
# -    return max(free_s, compute_s)
# +    return compute_s + sum(travel_s)
