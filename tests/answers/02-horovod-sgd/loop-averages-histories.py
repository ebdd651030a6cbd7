# /// answer
# title = "Every rank trains alone, and what they tell are averaged histories"
#
# [fails]
# horovod-average-tests = ["not averaged"]
# horovod-serial-tests = []
# ///

# %% role="changes" id="train-horovod"
# -            tape = hvd.DistributedGradientTape(tape)

# -    return np.array(history)
# +    return hvd.allreduce(np.array(history)).numpy()
