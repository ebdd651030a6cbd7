# %% compiled-step
# title = "The documented way, in a compiled step, with a legacy optimiser"
def train_horovod(x, y, num_epochs, batch_size, learning_rate):
    hvd.init()
    x, y = shard(x, y)
    slope, offset = (tf.Variable(tf.random.normal([])) for _ in range(2))
    optimizer = tf.keras.optimizers.legacy.SGD(learning_rate * hvd.size())

    @tf.function
    def step(batch_x, batch_y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((slope * batch_x + offset - batch_y) ** 2)
        tape = hvd.DistributedGradientTape(tape)
        optimizer.apply_gradients(zip(tape.gradient(loss, [slope, offset]), [slope, offset]))

    hvd.broadcast_variables([slope, offset], root_rank=0)
    history = [[slope.numpy(), offset.numpy()]]
    for _ in range(num_epochs):
        for first in range(0, len(x), batch_size):
            step(tf.constant(x[first : first + batch_size]), tf.constant(y[first : first + batch_size]))
            history.append([slope.numpy(), offset.numpy()])
    return np.array(history)


# %% noise-on-every-rank
# title = "Warnings and prints on stderr from every rank, and Horovod is initialised once more"
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
            gradients = hvd.DistributedGradientTape(tape).gradient(loss, variables)
            optimizer.apply_gradients(zip(gradients, variables))
            history.append([float(slope.numpy()), float(offset.numpy())])
    return np.array(history)


# %% id="average"
def average(gradients):
    hvd.init()  # once more does no harm
    return [hvd.allreduce(gradient) for gradient in gradients]


# %% loop-as-few-as-the-fewest
# title = "Every rank uses as many samples as the rank with the fewest"
# fails.horovod-shards-tests = ["shards.cut"]
# fails.horovod-serial-tests = ["shards.cut"]
#      x, y = shard(x, y)
# +    num_mine = int(hvd.allreduce(tf.constant(len(x)), op=hvd.Min))
# +    x, y = x[:num_mine], y[:num_mine]

# %% loop-averages-every-other-step
# title = "The gradients are averaged in every other step only"
# fails.horovod-average-tests = ["gradients.sometimes-averaged"]
# fails.horovod-serial-tests = []
# -            tape = hvd.DistributedGradientTape(tape)
#              gradients = tape.gradient(loss, variables)
# +            if len(history) % 2:
# +                gradients = [hvd.allreduce(gradient) for gradient in gradients]

# %% loop-batch-divided-too
# title = "The rate is scaled and the batch of each rank divided as well"
# fails.horovod-serial-tests = ["steps.uneven"]
# -        for first in range(0, len(x), batch_size):
# -            batch = slice(first, first + batch_size)
# +        for first in range(0, len(x), batch_size // hvd.size()):
# +            batch = slice(first, first + batch_size // hvd.size())

# %% loop-batch-size-unused
# title = "The whole shard is one batch, whatever was asked"
# fails.horovod-serial-tests = ["steps.wrong-number"]
# -        for first in range(0, len(x), batch_size):
# -            batch = slice(first, first + batch_size)
# +        for _ in [0]:
# +            batch = slice(None)

# %% loop-broadcast-after-the-first-step
# title = "The start is broadcast after the first step, as Horovod's example does for an optimiser's variables"
# fails.horovod-start-tests = ["broadcast.late"]
# -    broadcast_start(variables)

#              optimizer.apply_gradients(zip(gradients, variables))
# +            if len(history) == 1:
# +                broadcast_start(variables)

# %% loop-broadcasts-gradients
# title = "The gradients of rank 0 are broadcast to all, not averaged"
# fails.horovod-average-tests = ["gradients.of-one-rank"]
# fails.horovod-serial-tests = []
# -            tape = hvd.DistributedGradientTape(tape)
# -            gradients = tape.gradient(loss, variables)
# +            gradients = [hvd.broadcast(gradient, root_rank=0) for gradient in tape.gradient(loss, variables)]

# %% loop-clips-first
# title = "Each rank clips its own gradients before they are averaged"
# fails.horovod-average-tests = ["updates.unexplained"]
# fails.horovod-rate-tests = []
# fails.horovod-shards-tests = []
# fails.horovod-serial-tests = []
# -            tape = hvd.DistributedGradientTape(tape)
# -            gradients = tape.gradient(loss, variables)
# +            gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, variables), 1.0)
# +            gradients = [hvd.allreduce(gradient) for gradient in gradients]

# %% loop-collective-on-rank-0
# title = "Rank 0 alone averages once more, and the others gather what they have found already"
# fails.horovod-start-tests = ["ranks.deadlock"]
# fails.horovod-average-tests = []
# fails.horovod-shards-tests = []
# fails.horovod-rate-tests = []
# fails.horovod-serial-tests = []
#              history.append([float(slope.numpy()), float(offset.numpy())])
# +    if hvd.rank() == 0:
# +        print("slope:", hvd.allreduce(slope))
# +    hvd.allgather(tf.constant(history))

# %% loop-epochs-divided
# title = "The epochs are divided among the ranks, on top of the data"
# fails.horovod-serial-tests = ["steps.wrong-number"]
# fails.horovod-shards-tests = ["steps.wrong-number"]
# -    for _ in range(num_epochs):
# +    for _ in range(num_epochs // hvd.size()):

# %% loop-global-batch-no-shard
# title = "No shard: every rank takes the whole global batch"
# fails.horovod-shards-tests = ["shards.none"]
# consequences = ["horovod-serial-tests"]
# -    x, y = shard(x, y)
# +    batch_size = batch_size * hvd.size()

# %% loop-history-by-epoch
# title = "The place is written down once an epoch, not after every step"
# fails.horovod-average-tests = ["history.by-epoch"]
# fails.horovod-shards-tests = ["history.by-epoch"]
# fails.horovod-rate-tests = ["history.by-epoch"]
# fails.horovod-serial-tests = ["steps.wrong-number"]
# -            history.append([float(slope.numpy()), float(offset.numpy())])
# +        history.append([float(slope.numpy()), float(offset.numpy())])

# %% loop-history-turned
# title = "The history holds the offset before the slope"
# fails.horovod-average-tests = ["parameters.swapped"]
# fails.horovod-shards-tests = ["parameters.swapped"]
# fails.horovod-rate-tests = ["parameters.swapped"]
# fails.horovod-serial-tests = []
# -    return np.array(history)
# +    return np.array(history)[:, ::-1]

# %% loop-in-16-bits
# title = "The tape compresses gradients to 16 bits"
# fails.horovod-serial-tests = ["gradients.rounded"]
# -            tape = hvd.DistributedGradientTape(tape)
# +            tape = hvd.DistributedGradientTape(tape, compression=hvd.Compression.fp16)

# %% loop-keeps-variables
# title = "The variables are kept for the next call, which goes on from there"
# fails.horovod-serial-tests = ["variables.reused"]
# -    slope, offset = variables = [tf.Variable(tf.random.normal([])) for _ in range(2)]
# +    if not hasattr(train_horovod, "variables"):
# +        train_horovod.variables = [tf.Variable(tf.random.normal([])) for _ in range(2)]
# +    slope, offset = variables = train_horovod.variables

# %% loop-last-batch-dropped
# title = "Only whole batches are used, the smaller last one is left out"
# fails.horovod-serial-tests = ["steps.wrong-number"]
# -        for first in range(0, len(x), batch_size):
# +        for first in range(0, len(x) - batch_size + 1, batch_size):

# %% loop-momentum
# title = "The optimiser has a momentum"
# fails.horovod-serial-tests = ["momentum.unasked"]
# -    optimizer = tf.keras.optimizers.SGD(scale_rate(learning_rate))
# +    optimizer = tf.keras.optimizers.SGD(scale_rate(learning_rate), momentum=0.9)

# %% loop-no-broadcast
# title = "The loop does not broadcast: the ranks stay a constant distance apart"
# fails.horovod-start-tests = ["broadcast.missing"]
# fails.horovod-serial-tests = []
# -    broadcast_start(variables)

# %% loop-no-shard
# title = "The loop trains on all data on every rank: the result looks right"
# fails.horovod-shards-tests = ["shards.none"]
# fails.horovod-serial-tests = ["steps.wrong-number"]
# -    x, y = shard(x, y)

# %% loop-nothing-added
# title = "The loop of one process, with hvd.init() on top"
# fails.horovod-start-tests = ["broadcast.missing"]
# fails.horovod-average-tests = ["gradients.not-averaged"]
# fails.horovod-shards-tests = ["shards.none"]
# fails.horovod-rate-tests = ["rate.not-scaled"]
# fails.horovod-serial-tests = []
# -    x, y = shard(x, y)
#      slope, offset = variables = [tf.Variable(tf.random.normal([])) for _ in range(2)]
# -    broadcast_start(variables)
# -    optimizer = tf.keras.optimizers.SGD(scale_rate(learning_rate))
# +    optimizer = tf.keras.optimizers.SGD(learning_rate)

# -            tape = hvd.DistributedGradientTape(tape)

# %% loop-nothing-returned
# title = "The return is forgotten"
# fails.horovod-start-tests = ["answer.wrong-type"]
# fails.horovod-average-tests = []
# fails.horovod-shards-tests = []
# fails.horovod-rate-tests = []
# fails.horovod-serial-tests = []
# -    return np.array(history)
# +    np.array(history)

# %% loop-num-ranks-of-the-notebook
# title = "The rate is scaled with the number of ranks of the notebook"
# fails.horovod-rate-tests = ["rate.local-size"]
# fails.horovod-serial-tests = []
# -    optimizer = tf.keras.optimizers.SGD(scale_rate(learning_rate))
# +    optimizer = tf.keras.optimizers.SGD(learning_rate * num_ranks)

# %% loop-own-shuffle-then-shard
# title = "Every rank shuffles with a seed of its own, and then takes its share"
# fails.horovod-shards-tests = ["shards.uneven-use"]
# -    x, y = shard(x, y)
# +    order = np.random.default_rng(hvd.rank()).permutation(len(x))[hvd.rank() :: hvd.size()]
# +    x, y = x[order], y[order]

# %% loop-rate-by-rank-plus-one
# title = "The rate is multiplied by rank + 1"
# fails.horovod-rate-tests = ["rate.uneven"]
# fails.horovod-serial-tests = []
# -    optimizer = tf.keras.optimizers.SGD(scale_rate(learning_rate))
# +    optimizer = tf.keras.optimizers.SGD(learning_rate * (hvd.rank() + 1))

# %% loop-roots-differ
# title = "The slope comes from rank 0, the offset from rank 1"
# fails.horovod-start-tests = ["broadcast.mixed"]
# -    broadcast_start(variables)
# +    for root, variable in enumerate(variables):
# +        variable.assign(hvd.broadcast(variable, root_rank=root))

# %% loop-same-seed-no-broadcast
# title = "No broadcast, but the same seed on every rank: equal by luck"
# fails.horovod-start-tests = ["broadcast.missing"]
#      pin_gpu()
# +    tf.random.set_seed(1)

# -    broadcast_start(variables)

# %% loop-shard-by-local-rank
# title = "The shard is that of the local rank: right on one node"
# fails.horovod-shards-tests = ["shards."]
# fails.horovod-serial-tests = []
# -    x, y = shard(x, y)
# +    x, y = x[hvd.local_rank() :: hvd.local_size()], y[hvd.local_rank() :: hvd.local_size()]

# %% loop-shard-twice
# title = "The pieces are sharded once more: most samples are lost"
# fails.horovod-shards-tests = ["shards.incomplete"]
# fails.horovod-serial-tests = ["steps.wrong-number"]
# -    x, y = shard(x, y)
# +    x, y = shard(*shard(x, y))

# %% loop-size-two-typed-in
# title = "The shards are typed in for two ranks"
# fails.horovod-shards-tests = ["shards.uneven-use"]
# fails.horovod-serial-tests = ["steps.wrong-number"]
# -    x, y = shard(x, y)
# +    x, y = x[hvd.rank() :: 2], y[hvd.rank() :: 2]

# %% loop-starts-near-zero
# title = "The start has a small deviation, as the weights of networks have"
# fails.horovod-start-tests = ["start.not-normal"]
# -    slope, offset = variables = [tf.Variable(tf.random.normal([])) for _ in range(2)]
# +    slope, offset = variables = [tf.Variable(tf.random.normal([], stddev=0.05)) for _ in range(2)]

# %% loop-stops-at-small-gradients
# title = "Training ends as soon as the mean gradient is tiny"
# fails.horovod-serial-tests = ["steps.wrong-number"]
#              gradients = tape.gradient(loss, variables)
# +            if max(abs(float(gradient)) for gradient in gradients) < 1e-6:
# +                return np.array(history)

# %% loop-sum
# title = "The gradients are summed and the rate is scaled too"
# fails.horovod-rate-tests = ["rate.scaled-twice"]
# fails.horovod-serial-tests = []
# -            tape = hvd.DistributedGradientTape(tape)
# +            tape = hvd.DistributedGradientTape(tape, op=hvd.Sum)

# %% loop-sum-over-batch-size
# title = "The loss is a sum divided by batch_size, also in the smaller last batch"
# fails.horovod-serial-tests = ["loss.fixed-size"]
# -                loss = tf.reduce_mean((slope * x[batch] + offset - y[batch]) ** 2)
# +                loss = tf.reduce_sum((slope * x[batch] + offset - y[batch]) ** 2) / batch_size


# %% loop-tape-and-optimiser-wrapped
# title = "Tape and optimiser are both wrapped, and init is guarded"
def train_horovod(x, y, num_epochs, batch_size, learning_rate):
    hvd.init()
    if not hvd.is_initialized():
        hvd.init()
    x, y = x[hvd.rank() :: hvd.size()], y[hvd.rank() :: hvd.size()]
    slope, offset = variables = [tf.Variable(tf.random.normal([])) for _ in range(2)]
    hvd.broadcast_variables(variables, root_rank=0)
    optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.SGD(learning_rate * hvd.size()))
    history = [[float(slope.numpy()), float(offset.numpy())]]
    for _ in range(num_epochs):
        for first in range(0, len(x), batch_size):
            batch = slice(first, first + batch_size)
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((slope * x[batch] + offset - y[batch]) ** 2)
            gradients = hvd.DistributedGradientTape(tape).gradient(loss, variables)
            optimizer.apply_gradients(zip(gradients, variables))
            history.append([float(slope.numpy()), float(offset.numpy())])
    return np.array(history)


# %% loop-trains-on-the-notebooks-data
# title = "The loop of the notebook is called, which trains on the notebook's own samples"
# fails.horovod-average-tests = ["history.by-epoch"]
# fails.horovod-shards-tests = ["history.by-epoch"]
# fails.horovod-rate-tests = ["history.by-epoch"]
# fails.horovod-serial-tests = ["steps.wrong-number"]
def train_horovod(x, y, num_epochs, batch_size, learning_rate):
    return train(shard, broadcast_start, average, scale_rate, num_epochs)


# %% loop-unscaled
# title = "The loop does not scale the rate"
# fails.horovod-rate-tests = ["rate.not-scaled"]
# fails.horovod-serial-tests = []
# -    optimizer = tf.keras.optimizers.SGD(scale_rate(learning_rate))
# +    optimizer = tf.keras.optimizers.SGD(learning_rate)

# %% loop-warm-up
# title = "The rate grows over the first five epochs"
# fails.horovod-rate-tests = ["rate.changing"]
# fails.horovod-serial-tests = []
# -    for _ in range(num_epochs):
# +    for epoch in range(num_epochs):
# +        optimizer.learning_rate.assign(scale_rate(learning_rate) * min(1, (epoch + 1) / 5))

# %% loop-warm-up-of-long-trainings
# title = "The rate grows over the first five epochs, where there are many"
# fails.horovod-serial-tests = ["updates.not-plain"]
# -    for _ in range(num_epochs):
# +    for epoch in range(num_epochs):
# +        if num_epochs > 8:
# +            optimizer.learning_rate.assign(scale_rate(learning_rate) * min(1, (epoch + 1) / 5))

# %% loop-weight-decay
# title = "A little weight decay is added, as for a network"
# fails.horovod-serial-tests = ["weight-decay.unasked"]
#              gradients = tape.gradient(loss, variables)
# +            gradients = [gradient + 1e-4 * variable for gradient, variable in zip(gradients, variables)]

# %% loop-without-init
# title = "Horovod is never initialised"
# fails.horovod-start-tests = ["answer.raised"]
# fails.horovod-average-tests = []
# fails.horovod-shards-tests = []
# fails.horovod-rate-tests = []
# fails.horovod-serial-tests = []
# -    hvd.init()

# %% loop-wrapped-optimiser
# title = "The optimiser is wrapped instead of the tape, which averages nothing in a loop of one's own"
# fails.horovod-average-tests = ["gradients.not-averaged"]
# fails.horovod-serial-tests = []
# -    optimizer = tf.keras.optimizers.SGD(scale_rate(learning_rate))
# +    optimizer = hvd.DistributedOptimizer(tf.keras.optimizers.SGD(scale_rate(learning_rate)))

# -            tape = hvd.DistributedGradientTape(tape)

# %% loop-x-and-y-shuffled-apart
# title = "x and y are shuffled by two permutations"
# fails.horovod-serial-tests = ["updates.not-serial"]
# -    x, y = shard(x, y)
# +    x, y = shard(x, y)
# +    x, y = np.random.permutation(x), np.random.permutation(y)


# %% numpy-and-objects
# title = "NumPy computes the gradients, an object is broadcast, and the samples are shuffled alike before each epoch's shards"
def train_horovod(x, y, num_epochs, batch_size, learning_rate):
    hvd.init()
    rng = np.random.default_rng(hvd.broadcast_object(np.random.randint(2**31), root_rank=0))
    point = hvd.broadcast_object(np.random.normal(size=2).astype(np.float32), root_rank=0)
    history = [point]
    for _ in range(num_epochs):
        mine = rng.permutation(len(x))[hvd.rank() :: hvd.size()]
        for first in range(0, len(mine), batch_size):
            batch = mine[first : first + batch_size]
            inputs = np.column_stack([x[batch], np.ones(len(batch), np.float32)])
            gradient = np.float32(2 / len(batch)) * inputs.T @ (inputs @ point - y[batch])
            point = point - np.float32(learning_rate * hvd.size()) * hvd.allreduce(gradient).numpy()
            history.append(point)
    return history


# %% pipeline-and-manual-average
# title = "A tf.data pipeline with shard and shuffle, gradients averaged by hand, the update by assign_sub"
class LinearModel(tf.Module):
    def __init__(self):
        self.slope = tf.Variable(tf.random.normal([]))
        self.offset = tf.Variable(tf.random.normal([]))

    def __call__(self, x):
        return self.slope * x + self.offset


def train_horovod(x, y, num_epochs, batch_size, learning_rate):
    hvd.init()
    data = tf.data.Dataset.from_tensor_slices((x, y)).shard(hvd.size(), hvd.rank())
    data = data.shuffle(1000).batch(batch_size).prefetch(tf.data.AUTOTUNE)
    model = LinearModel()
    hvd.broadcast_variables([model.offset, model.slope], root_rank=0)
    history = [(model.slope.numpy(), model.offset.numpy())]
    for epoch in range(num_epochs):
        for batch_x, batch_y in data:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(model(batch_x) - batch_y))
            for variable, gradient in zip(
                [model.slope, model.offset], tape.gradient(loss, [model.slope, model.offset])
            ):
                variable.assign_sub(learning_rate * hvd.size() * hvd.allreduce(gradient))
            history.append((model.slope.numpy(), model.offset.numpy()))
        if hvd.rank() == 0:
            print("epoch", epoch, "loss", float(loss))
    return np.array(history)


# %% right-generator-of-batches
# title = "Batches come from a generator, the gradients are summed by hand in one packed tensor"
def batches_of(x, y, batch_size):
    while len(x):
        yield x[:batch_size], y[:batch_size]
        x, y = x[batch_size:], y[batch_size:]


def train_horovod(x, y, num_epochs, batch_size, learning_rate):
    hvd.init()
    mine = np.array_split(np.arange(len(x)), hvd.size())[hvd.rank()]
    theta = tf.Variable(tf.random.normal([2]))
    theta.assign(hvd.broadcast(theta, root_rank=0))
    history = [theta.numpy()]
    for _ in range(num_epochs):
        for a, b in batches_of(x[mine], y[mine], batch_size):
            with tf.GradientTape() as tape:
                loss = tf.keras.losses.mean_squared_error(b, theta[0] * a + theta[1])
            total = hvd.allreduce(tape.gradient(loss, theta), op=hvd.Sum)
            theta.assign_sub(learning_rate * total)  # the sum of N gradients is N times their mean
            history.append(theta.numpy())
    return np.stack(history)


# %% right-mean-over-all-samples
# title = "Each rank's loss is its sum divided by the samples of all ranks in this step, and gradients are summed"
# -                loss = tf.reduce_mean((slope * x[batch] + offset - y[batch]) ** 2)
# -            tape = hvd.DistributedGradientTape(tape)
# +                loss = tf.reduce_sum((slope * x[batch] + offset - y[batch]) ** 2)
# +            num_together = hvd.allreduce(tf.constant(float(len(x[batch]))), op=hvd.Sum)
# +            tape = hvd.DistributedGradientTape(tape, op=hvd.Sum)

# -            optimizer.apply_gradients(zip(gradients, variables))
# +            optimizer.apply_gradients((gradient / num_together, one) for gradient, one in zip(gradients, variables))


# %% right-shuffled-alike-each-epoch
# title = "All ranks shuffle with one seed in each epoch, then take every N-th sample in batches"
def train_horovod(x, y, num_epochs, batch_size, learning_rate):
    hvd.init()
    variables = [tf.Variable(tf.random.normal([])) for _ in range(2)]
    hvd.broadcast_variables(variables, root_rank=0)
    optimizer = tf.keras.optimizers.SGD(learning_rate * hvd.size())
    history = [[v.numpy() for v in variables]]
    for epoch in range(num_epochs):
        order = np.random.default_rng(epoch).permutation(len(x))[hvd.rank() :: hvd.size()]
        for batch in np.split(order, range(batch_size, len(order), batch_size)):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((variables[0] * x[batch] + variables[1] - y[batch]) ** 2)
            gradients = hvd.grouped_allreduce(tape.gradient(loss, variables))
            optimizer.apply_gradients(zip(gradients, variables))
            history.append([v.numpy() for v in variables])
    return np.array(history)


# %% loop-starts-uniform
# title = "The start is uniform between 0 and 1, as tf.random.uniform has it"
# fails.horovod-start-tests = ["start.not-normal"]
# -    slope, offset = variables = [tf.Variable(tf.random.normal([])) for _ in range(2)]
# +    slope, offset = variables = [tf.Variable(tf.random.uniform([])) for _ in range(2)]

# %% loop-in-64-bits
# title = "Variables and data have 64 bits"
# fails.horovod-serial-tests = ["weights.not-32-bits"]
# -    x, y = shard(x, y)
# -    slope, offset = variables = [tf.Variable(tf.random.normal([])) for _ in range(2)]
# +    x, y = (part.astype(np.float64) for part in shard(x, y))
# +    slope, offset = variables = [tf.Variable(tf.random.normal([], dtype=tf.float64)) for _ in range(2)]
