# /// answer
# title = "The gradients are added up and not averaged"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# optimizer-tests = ["summed"]
# ///

# %% role="changes" id="make-optimizer"
# -    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, groups=num_groups or None)
# +    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, groups=num_groups or None, op=hvd.Sum)
