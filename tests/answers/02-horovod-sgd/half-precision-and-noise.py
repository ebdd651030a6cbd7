# /// answer
# title = "Gradients travel with 16 bits; warnings and prints on stderr from every rank"
# ///

# %% role="answer" id="train-horovod"
import sys
import warnings


def train_horovod(x, y, num_epochs, batch_size, learning_rate):
    hvd.init()
    x, y = x[hvd.rank() :: hvd.size()], y[hvd.rank() :: hvd.size()]
    slope, offset = variables = [tf.Variable(tf.random.normal([])) for _ in range(2)]
    hvd.broadcast_variables(variables, root_rank=0)
    optimizer = tf.keras.optimizers.SGD(learning_rate * hvd.size())
    history = [[float(slope.numpy()), float(offset.numpy())]]
    for _ in range(num_epochs):
        for first in range(0, len(x), batch_size):
            batch = slice(first, first + batch_size)
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((slope * x[batch] + offset - y[batch]) ** 2)
            print("step", len(history), file=sys.stderr)
            warnings.warn("a warning on every rank")
            gradients = hvd.DistributedGradientTape(tape, compression=hvd.Compression.fp16).gradient(loss, variables)
            optimizer.apply_gradients(zip(gradients, variables))
            history.append([float(slope.numpy()), float(offset.numpy())])
    return np.array(history)


# %% role="answer" id="average"
def average(gradients):
    hvd.init()  # once more does no harm
    return [hvd.allreduce(gradient, compression=hvd.Compression.fp16) for gradient in gradients]
