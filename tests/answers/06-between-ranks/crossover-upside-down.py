# /// answer
# title = "Beta over alpha"
#
# [fails]
# crossover-tests = ["there the ring takes"]
# ///

# %% role="changes" id="crossover"
# -    return more_steps * alpha / ((num_rounds - 2 * (num_ranks - 1) / num_ranks) * beta)
# +    return more_steps * beta / ((num_rounds - 2 * (num_ranks - 1) / num_ranks) * alpha)
