# /// answer
# title = "The sum is divided by a world size that is typed in"
# consequences = ["train-tests", "continued-tests"]
#
# [fails]
# optimizer-tests = ["1.5 times"]
# ///

# %% role="changes" id="make-optimizer"
# -    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, groups=num_groups or None)
# +    optimizer = tf.keras.optimizers.SGD(rate / 2, momentum=0.9)
# +    return hvd_keras.DistributedOptimizer(optimizer, compression=bits, groups=num_groups or None, op=hvd.Sum)
