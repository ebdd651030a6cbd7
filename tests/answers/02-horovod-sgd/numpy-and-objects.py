# /// answer
# title = "NumPy computes the gradients, an object is broadcast, and the samples are shuffled alike before each epoch's shards"
# ///

# %% role="answer" id="train-horovod"
def train_horovod(x, y, num_epochs, batch_size, learning_rate):
    hvd.init()
    rng = np.random.default_rng(hvd.broadcast_object(np.random.randint(2**31), root_rank=0))
    point = hvd.broadcast_object(np.random.normal(size=2), root_rank=0)
    history = [point]
    for _ in range(num_epochs):
        mine = rng.permutation(len(x))[hvd.rank() :: hvd.size()]
        for first in range(0, len(mine), batch_size):
            batch = mine[first : first + batch_size]
            inputs = np.column_stack([x[batch], np.ones(len(batch))])
            gradient = 2 / len(batch) * inputs.T @ (inputs @ point - y[batch])
            point = point - learning_rate * hvd.size() * hvd.allreduce(gradient).numpy()
            history.append(point)
    return history
