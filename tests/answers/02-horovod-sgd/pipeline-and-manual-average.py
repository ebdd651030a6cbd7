# /// answer
# title = "A tf.data pipeline with shard and shuffle, gradients averaged by hand, the update by assign_sub"
# ///

# %% role="answer" id="train-horovod"
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
