# /// answer
# title = "The natural logarithm"
#
# [fails]
# crossover-tests = ["crossover on 4 ranks"]
# ///

# %% role="changes" id="crossover"
# -    num_rounds = np.log2(num_ranks)
# +    num_rounds = np.log(num_ranks)
