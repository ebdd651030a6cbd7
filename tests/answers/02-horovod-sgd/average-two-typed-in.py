# /// answer
# title = "The sum is divided by two"
#
# [fails]
# average-tests = ["mean"]
# ///

# %% role="changes" id="average"
# -    return [hvd.allreduce(gradient, op=hvd.Average) for gradient in gradients]
# +    return [hvd.allreduce(gradient, op=hvd.Sum) / 2 for gradient in gradients]
