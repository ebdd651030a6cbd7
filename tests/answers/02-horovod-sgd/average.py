# %% average-by-local-size
# title = "The sum is divided by the ranks of one node"
# fails.average-tests = ["gradients.wrong"]
# -    return [hvd.allreduce(gradient, op=hvd.Average) for gradient in gradients]
# +    return [hvd.allreduce(gradient, op=hvd.Sum) / hvd.local_size() for gradient in gradients]

# %% average-first-only
# title = "Only the slope's gradient is averaged"
# fails.average-tests = ["gradients.not-averaged"]
def average(gradients):
    return [hvd.allreduce(gradients[0])] + list(gradients[1:])


# %% average-in-16-bits
# title = "The gradients are compressed to 16 bits on their way"
# fails.average-tests = ["gradients.rounded"]
# -    return [hvd.allreduce(gradient, op=hvd.Average) for gradient in gradients]
# +    return [hvd.allreduce(gradient, compression=hvd.Compression.fp16) for gradient in gradients]


# %% average-in-reverse
# title = "The averages come out in reverse order"
# fails.average-tests = ["gradients.wrong-order"]
def average(gradients):
    return [hvd.allreduce(gradient) for gradient in gradients][::-1]


# %% average-is-a-sum
# title = "The gradients are added up"
# fails.average-tests = ["gradients.summed"]
def average(gradients):
    return [hvd.allreduce(gradient, op=hvd.Sum) for gradient in gradients]


# %% average-nothing
# title = "Every rank keeps its own gradients"
# fails.average-tests = ["gradients.not-averaged"]
def average(gradients):
    return gradients


# %% average-of-the-list
# title = "The whole list is handed to one allreduce"
# fails.average-tests = ["allreduce.list"]
def average(gradients):
    return hvd.allreduce(gradients)


# %% average-of-those-not-zero
# title = "Ranks with a gradient of zero do not count in the mean"
# fails.average-tests = ["gradients.wrong"]
def average(gradients):
    means = []
    for gradient in gradients:
        num_ranks = hvd.allreduce(tf.cast(tf.reduce_any(gradient != 0), gradient.dtype), op=hvd.Sum)
        means.append(hvd.allreduce(gradient, op=hvd.Sum) / tf.maximum(num_ranks, 1))
    return means
