# /// answer
# title = "The sum is divided by the ranks of one node"
#
# [fails]
# average-tests = ["mean"]
# ///

# %% role="changes" id="average"
# -    return [hvd.allreduce(gradient, op=hvd.Average) for gradient in gradients]
# +    return [hvd.allreduce(gradient, op=hvd.Sum) / hvd.local_size() for gradient in gradients]
