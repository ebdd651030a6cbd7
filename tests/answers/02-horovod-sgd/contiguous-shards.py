# /// answer
# title = "Contiguous shards, hvd.broadcast by hand, the default operation, experimental names"
# ///

# %% role="answer" id="pin-gpu"
def pin_gpu():
    gpus = tf.config.experimental.list_physical_devices("GPU")
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)
    if gpus:
        tf.config.experimental.set_visible_devices([gpus[hvd.local_rank()]], "GPU")


# %% role="answer" id="shard"
def shard(x, y):
    return np.array_split(x, hvd.size())[hvd.rank()], np.array_split(y, hvd.size())[hvd.rank()]


# %% role="answer" id="broadcast-start"
def broadcast_start(variables):
    for variable in variables:
        variable.assign(hvd.broadcast(variable, root_rank=0))


# %% role="answer" id="average"
def average(gradients):
    return hvd.grouped_allreduce(gradients)


# %% role="answer" id="save-history"
def save_history(history, folder):
    if hvd.rank() != 0:
        return
    with open(str(folder) + "/history.npy", "wb") as file:
        np.save(file, history)
