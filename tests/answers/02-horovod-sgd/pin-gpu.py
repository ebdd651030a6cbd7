# %% contiguous-shards
# title = "Contiguous shards, hvd.broadcast by hand, the default operation, experimental names"
def pin_gpu():
    gpus = tf.config.experimental.list_physical_devices("GPU")
    for gpu in gpus:
        tf.config.experimental.set_memory_growth(gpu, True)
    if gpus:
        tf.config.experimental.set_visible_devices([gpus[hvd.local_rank()]], "GPU")


# %% id="shard"
def shard(x, y):
    return np.array_split(x, hvd.size())[hvd.rank()], np.array_split(y, hvd.size())[hvd.rank()]


# %% id="broadcast-start"
def broadcast_start(variables):
    for variable in variables:
        variable.assign(hvd.broadcast(variable, root_rank=0))


# %% id="average"
def average(gradients):
    return hvd.grouped_allreduce(gradients)


# %% id="save-history"
def save_history(history, folder):
    if hvd.rank() != 0:
        return
    with open(str(folder) + "/history.npy", "wb") as file:
        np.save(file, history)


# %% pin-by-modulo
# title = "The GPU is the rank modulo the ranks of its node, which is right on nodes of equal size"
# fails.pin-gpu-tests = ["gpu.wrong"]
# -        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
# +        tf.config.set_visible_devices(gpus[hvd.rank() % hvd.local_size()], "GPU")

# %% pin-by-rank
# title = "The GPU is picked by the rank, which is wrong from the second node on"
# fails.pin-gpu-tests = ["gpu.wrong"]
# -        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
# +        tf.config.set_visible_devices(gpus[hvd.rank()], "GPU")

# %% pin-by-variable
# title = "CUDA_VISIBLE_DEVICES is set, whether there are GPUs or not"
# fails.pin-gpu-tests = ["gpu.variable"]
# -    gpus = tf.config.list_physical_devices("GPU")
# -    if gpus:
# -        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
# +    os.environ["CUDA_VISIBLE_DEVICES"] = str(hvd.local_rank())

# %% pin-by-variable-if-there-are-gpus
# title = "CUDA_VISIBLE_DEVICES is set when TensorFlow has listed the GPUs"
# fails.pin-gpu-tests = ["gpu.all-visible"]
# -        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
# +        os.environ["CUDA_VISIBLE_DEVICES"] = str(hvd.local_rank())

# %% pin-first-gpu
# title = "Every rank takes the first GPU"
# fails.pin-gpu-tests = ["gpu.wrong"]
# -        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
# +        tf.config.set_visible_devices(gpus[0], "GPU")


# %% pin-growth-only
# title = "Memory growth is set, but no GPU is pinned"
# fails.pin-gpu-tests = ["gpu.all-visible"]
def pin_gpu():
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)


# %% pin-logical-devices
# title = "Logical devices are asked for, which starts the GPUs: then none can be pinned any more"
# fails.pin-gpu-tests = ["answer.raised"]
def pin_gpu():
    gpus = tf.config.list_logical_devices("GPU")
    if gpus:
        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")


# %% pin-without-asking
# title = "The list of GPUs is taken to hold one"
# fails.pin-gpu-tests = ["gpu.none"]
# consequences = ["horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]
# -    if gpus:
# -        tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
# +    tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")

# %% way-out-everywhere
# title = "Every piece that has a way out is taken, one within a function of one's own; the rest earns its points"
# fails.pin-gpu-tests = ["answer.taken"]
# fails.shard-tests = ["answer.taken"]
# fails.broadcast-start-tests = ["answer.taken"]
# fails.average-tests = ["answer.taken"]
# fails.scale-rate-tests = ["answer.taken"]
from coursekit.solution_snippet import take

pin_gpu = take(
    "R1BVIHBpbm5pbmcKCmRlZiBwaW5fZ3B1KCk6CiAgICAiIiJNYWtlIHRoZSBHUFUgb2YgdGhpcyByYW5rJ3MgbG9jYWwgcmFuayB0aGUgb25seSB2aXNpYmxlIG9uZTsgd2l0aG91dCBHUFVzIGRvIG5vdGhpbmcuIiIiCiAgICAjIGFib3V0IDMgbGluZXMKICAgIGdwdXMgPSB0Zi5jb25maWcubGlzdF9waHlzaWNhbF9kZXZpY2VzKCJHUFUiKQogICAgaWYgZ3B1czoKICAgICAgICB0Zi5jb25maWcuc2V0X3Zpc2libGVfZGV2aWNlcyhncHVzW2h2ZC5sb2NhbF9yYW5rKCldLCAiR1BVIik="
)

# %% id="shard"
from coursekit.solution_snippet import take

taken = take(
    "c2hhcmRzCgpkZWYgc2hhcmQoeCwgeSk6CiAgICAiIiJSZXR1cm4gdGhpcyByYW5rJ3Mgc2hhcmUgb2YgdGhlIHNhbXBsZXMuIiIiCiAgICAjIGFib3V0IDIgbGluZXMKICAgIG1pbmUgPSBzbGljZShodmQucmFuaygpLCBOb25lLCBodmQuc2l6ZSgpKQogICAgcmV0dXJuIHhbbWluZV0sIHlbbWluZV0="
)


def shard(*args):
    return taken(*args)


# %% id="broadcast-start"
from coursekit.solution_snippet import take

broadcast_start = take(
    "YnJvYWRjYXN0CgpkZWYgYnJvYWRjYXN0X3N0YXJ0KHZhcmlhYmxlcyk6CiAgICAiIiJHaXZlIGV2ZXJ5IHJhbmsgdGhlIHZhcmlhYmxlcyBvZiByYW5rIDAsIGluIHBsYWNlLiIiIgogICAgIyBhYm91dCAxIGxpbmUKICAgIGh2ZC5icm9hZGNhc3RfdmFyaWFibGVzKHZhcmlhYmxlcywgcm9vdF9yYW5rPTAp"
)

# %% id="average"
from coursekit.solution_snippet import take

average = take(
    "YXZlcmFnZWQgZ3JhZGllbnRzCgpkZWYgYXZlcmFnZShncmFkaWVudHMpOgogICAgIiIiUmV0dXJuIHRoZSBtZWFuIG9mIGVhY2ggZ3JhZGllbnQgb3ZlciBhbGwgcmFua3MsIGluIHRoZSBzYW1lIG9yZGVyLiIiIgogICAgIyBhYm91dCAxIGxpbmUKICAgIHJldHVybiBbaHZkLmFsbHJlZHVjZShncmFkaWVudCwgb3A9aHZkLkF2ZXJhZ2UpIGZvciBncmFkaWVudCBpbiBncmFkaWVudHNd"
)

# %% id="scale-rate"
from coursekit.solution_snippet import take

scale_rate = take(
    "bGVhcm5pbmcgcmF0ZQoKZGVmIHNjYWxlX3JhdGUobGVhcm5pbmdfcmF0ZSk6CiAgICAiIiJSZXR1cm4gdGhlIGxlYXJuaW5nIHJhdGUgb2Ygb25lIHJhbmssIHNjYWxlZCBsaW5lYXJseSB0byB0aGUgd2hvbGUgZ3JvdXAuIiIiCiAgICAjIGFib3V0IDEgbGluZQogICAgcmV0dXJuIGxlYXJuaW5nX3JhdGUgKiBodmQuc2l6ZSgp"
)
