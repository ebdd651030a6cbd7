# /// answer
# title = "The number for 4 ranks, whatever their number"
#
# [fails]
# crossover-tests = ["crossover on 8 ranks"]
# ///

# %% role="changes" id="crossover"
# -    return more_steps * alpha / ((num_rounds - 2 * (num_ranks - 1) / num_ranks) * beta)
# +    return 8 * alpha / beta
