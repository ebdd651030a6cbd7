# /// answer
# title = "Each rank's loss is its sum divided by the samples of all ranks in this step, and gradients are summed"
# ///

# %% role="changes" id="train-horovod"
# -                loss = tf.reduce_mean((slope * x[batch] + offset - y[batch]) ** 2)
# -            tape = hvd.DistributedGradientTape(tape)
# +                loss = tf.reduce_sum((slope * x[batch] + offset - y[batch]) ** 2)
# +            num_together = hvd.allreduce(tf.constant(float(len(x[batch]))), op=hvd.Sum)
# +            tape = hvd.DistributedGradientTape(tape, op=hvd.Sum)

# -            optimizer.apply_gradients(zip(gradients, variables))
# +            optimizer.apply_gradients((gradient / num_together, one) for gradient, one in zip(gradients, variables))
