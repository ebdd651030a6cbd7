# /// answer
# title = "The groups are not handed on"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# compression-tests = ["groups", "num_groups = 1"]
# ///

# %% role="changes" id="make-optimizer"
# -    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, groups=num_groups or None)
# +    return hvd_keras.DistributedOptimizer(optimizer, compression=bits)
