# /// answer
# title = "The sum is divided by the ranks of the node"
# consequences = ["compression-tests", "train-tests", "continued-tests"]
#
# [fails]
# optimizer-tests = ["it depends on the rank"]
# ///

# %% role="changes" id="make-optimizer"
# -    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, groups=num_groups or None)
# +    optimizer = tf.keras.optimizers.SGD(rate / hvd.local_size(), momentum=0.9)
# +    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, groups=num_groups or None, op=hvd.Sum)
