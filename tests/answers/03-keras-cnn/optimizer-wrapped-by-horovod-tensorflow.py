# /// answer
# title = "The wrapper of horovod.tensorflow, which forgets the groups"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# compression-tests = ["groups", "hvd_keras"]
# ///

# %% role="changes" id="make-optimizer"
# -    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, groups=num_groups or None)
# +    return hvd.DistributedOptimizer(optimizer, compression=bits, groups=num_groups or None)
