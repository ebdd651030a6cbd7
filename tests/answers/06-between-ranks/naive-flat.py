# /// answer
# title = "The plain way on numbers in a row: the sum of arrays with two dimensions comes back flat"
#
# [fails]
# naive-tests = ["shape of the sum"]
# ///

# %% role="changes" id="naive-allreduce"
#      others = range(1, channel.num_ranks)
# +    array = array.ravel()
