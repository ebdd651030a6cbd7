# /// answer
# title = "Gradients are summed over four batches before an update"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# optimizer-tests = ["not those of SGD"]
# compression-tests = []
# ///

# %% role="changes" id="make-optimizer"
# -    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, groups=num_groups or None)
# +    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, backward_passes_per_step=4)
