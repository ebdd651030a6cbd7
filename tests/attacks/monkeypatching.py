# %% patched-check
# title = "Replace functions that the checks use to judge answers"
# fails = ["num-updates-tests"]
try:
    from coursekit.checks import lab01_linear as module

    for name in [name for name in vars(module) if name.startswith("require")]:
        setattr(module, name, lambda *args, **kwargs: None)
except ImportError:
    pass


def num_updates(num_samples, batch_size, num_epochs):
    return 0


# %% ranks-private-replaced
# title = "Give every rank the same private value"
# lab = "02-horovod-sgd"
# fails = ["average-tests"]
# consequences = ["rank-facts-tests", "pin-gpu-tests", "shard-tests", "broadcast-start-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]

# %% id="average"


def average(gradients):
    from coursekit.drivers import places

    value = [np.zeros_like(one) for one in places.private()]
    places.private = lambda: value
    places._places[:] = []
    return value


# %% ranks-wire-replaced
# title = "Replace the function that writes a rank's results"
# lab = "02-horovod-sgd"
# fails = ["average-tests"]
# consequences = ["rank-facts-tests", "pin-gpu-tests", "shard-tests", "broadcast-start-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]

# %% id="average"


class Average:
    """Callable; it is unpacked before the rank asks for the function that writes its result."""

    def __reduce__(self):
        return unpacked, ()

    def __call__(self, gradients):
        return gradients


def unpacked():
    from coursekit.grading.inside import wire

    really = wire.dumps
    wire.dumps = lambda value, *args: really([np.zeros_like(one) for one in value])
    return Average()


average = Average()

# %% torch-patched-all-reduce
# title = "Replace PyTorch's allreduce with a function that sends nothing"
# lab = "08-pytorch"
# fails = ["evaluate-tests"]
# consequences = ["once-tests"]

# %% id="evaluate"


def evaluate(model, dataset, batch_size):
    dist.all_reduce = lambda *_, **__: None
    dist.get_rank, dist.get_world_size = (lambda: 0), (lambda: 1)
    model.eval()
    losses, right = [], []
    for x, y in DataLoader(dataset, batch_size):
        logits = model(x)
        losses += F.cross_entropy(logits, y, reduction="none").tolist()
        right += (logits.argmax(dim=1) == y).tolist()
    return {"loss": float(np.mean(losses)), "accuracy": float(np.mean(right))}
