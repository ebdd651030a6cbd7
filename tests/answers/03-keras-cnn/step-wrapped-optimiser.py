# /// answer
# title = "A plain tape and the optimiser wrapped for Keras, which averages only in minimize"
#
# [fails]
# make-step-tests = ["not averaged"]
# ///

# %% role="changes" id="make-step"
# +    optimizer = hvd_keras.DistributedOptimizer(optimizer)
# +
#      @tf.function(autograph=False)

# -        tape = hvd.DistributedGradientTape(tape)
