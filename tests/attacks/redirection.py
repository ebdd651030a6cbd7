# %% call-reference
# title = "Call the reference function that the check compares the answer with"
# fails = ["hessian-tests"]
# consequences = ["largest-stable-rate-tests"]

# %% id="hessian"
def hessian(x):
    from coursekit.checks.lab01_linear import reference_hessian

    return reference_hessian(x)


# %% ranks-simulated
# title = "Simulate the other ranks without communicating with them"
# lab = "02-horovod-sgd"
# fails = ["average-tests"]
# consequences = ["rank-facts-tests", "pin-gpu-tests", "shard-tests", "broadcast-start-tests", "scale-rate-tests", "max-num-ranks-tests", "save-history-tests", "horovod-start-tests", "horovod-average-tests", "horovod-shards-tests", "horovod-rate-tests", "horovod-serial-tests", "keras-start-tests", "keras-average-tests", "keras-shards-tests", "keras-rate-tests"]

# %% id="average"


def average(gradients):
    import gc

    others = [one for one in gc.get_objects() if isinstance(one, list) and len(one) == len(gradients)]
    same = [one for one in others if all(np.shape(a) == np.shape(b) for a, b in zip(one, gradients))]
    return [sum(np.asarray(one[i]) for one in same) / max(len(same), 1) for i in range(len(gradients))]


# %% torch-start-made-up
# title = "Start all ranks with the attacker's weights, so that no rank has to send its weights"
# lab = "08-pytorch"
# fails = ["start-tests", "averaged-tests"]
# consequences = ["rate-tests"]

# %% id="train"


def train(model, epochs, rate):
    model.bias.data.zero_()
    wrapped = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(wrapped.parameters(), lr=rate * dist.get_world_size(), momentum=0.9)
    for batches in epochs:
        for x, y in batches:
            optimizer.zero_grad()
            F.cross_entropy(wrapped(x), y).backward()
            optimizer.step()
    return wrapped, optimizer
