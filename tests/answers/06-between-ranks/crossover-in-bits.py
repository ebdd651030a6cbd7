# /// answer
# title = "Bits in place of bytes"
#
# [fails]
# crossover-tests = ["8 times too large"]
# ///

# %% role="changes" id="crossover"
# -    return more_steps * alpha / ((num_rounds - 2 * (num_ranks - 1) / num_ranks) * beta)
# +    return 8 * more_steps * alpha / ((num_rounds - 2 * (num_ranks - 1) / num_ranks) * beta)
