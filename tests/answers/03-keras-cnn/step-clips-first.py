# /// answer
# title = "Each rank clips its gradients before they are averaged"
#
# [fails]
# make-step-tests = ["not those of SGD"]
# ///

# %% role="changes" id="make-step"
# -        tape = hvd.DistributedGradientTape(tape)
# -        gradients = tape.gradient(loss, network.trainable_variables)
# +        gradients = [tf.clip_by_value(one, -0.05, 0.05) for one in tape.gradient(loss, network.trainable_variables)]
# +        gradients = [hvd.allreduce(gradient) for gradient in gradients]
