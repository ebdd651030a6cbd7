# /// answer
# title = "Each rank clips its own gradients before they are averaged"
#
# [fails]
# horovod-average-tests = ["not averaged"]
# horovod-rate-tests = []
# horovod-shards-tests = []
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -            tape = hvd.DistributedGradientTape(tape)
# -            gradients = tape.gradient(loss, variables)
# +            gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, variables), 1.0)
# +            gradients = [hvd.allreduce(gradient) for gradient in gradients]
