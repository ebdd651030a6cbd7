# /// answer
# title = "The rate of one worker"
#
# [fails]
# strategy-plan-tests = ["not scaled"]
# ///

# %% role="changes" id="train-with-strategy"
# -        optimizer = tf.keras.optimizers.SGD(params["learning_rate"] * num_workers, momentum=0.9)
# +        optimizer = tf.keras.optimizers.SGD(params["learning_rate"], momentum=0.9)
