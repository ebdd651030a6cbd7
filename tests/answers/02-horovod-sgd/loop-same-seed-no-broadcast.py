# /// answer
# title = "No broadcast, but the same seed on every rank: equal by luck"
#
# [fails]
# horovod-start-tests = ["not broadcast"]
# ///

# %% role="changes" id="train-horovod"
#      pin_gpu()
# +    tf.random.set_seed(1)

# -    broadcast_start(variables)
