# %% right-budget-by-next
# title = "Right: the table as text, the budget in one line; layers sharded from the last"
def shard(model):
    for layer in reversed(list(model)):
        fully_shard(layer)
    return fully_shard(model)


# %% id="predict-bytes"
def predict_bytes(kind, num_parameters, num_ranks):
    n = num_ranks
    p = 4.0 * num_parameters
    if kind == "ddp":
        return {"held": 4 * p, "sent": 2 * p - 2 * p / n}
    parts = p * (n - 1) / n
    held = 2 * p + 2 * p / n if kind == "zero" else 4 * p / n
    return {"held": np.float64(held), "sent": 3 * parts, "note": 0}


# %% id="fewest-gpus"
def fewest_gpus(kind, num_parameters, memory_bytes, other_bytes):
    fits = lambda n: predict_bytes(kind, num_parameters, n)["held"] <= memory_bytes - other_bytes
    return next(filter(fits, [2**power for power in range(7)]), None)


# %% right-shard-of-checkpointed-layers
# title = "Right: activations are computed again, in a wrapper around each layer; fractions for bytes"
def shard(model):
    from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper

    for number in range(len(model)):
        model[number] = checkpoint_wrapper(model[number])
        fully_shard(model[number])
    return fully_shard(model)


# %% id="predict-bytes"
def predict_bytes(kind, num_parameters, num_ranks):
    from fractions import Fraction

    share = Fraction(1, num_ranks)
    shared = {"ddp": (), "zero": (8,), "fsdp": (4, 4, 8)}[kind]
    held = int(num_parameters) * (16 - sum(shared) + sum(shared) * share)
    return {"held": held, "sent": 4 * int(num_parameters) * (2 if kind == "ddp" else 3) * (1 - share)}


# %% shard-layers-only
# title = "Each layer is a unit, and the model is not: layers keep their weights after the forward pass"
# fails.fsdp-tests = ["fsdp.model-no-unit"]
# -    fully_shard(model)


# %% shard-layers-together
# title = "All layers are one unit: their weights are collected together"
# fails.fsdp-tests = ["fsdp.not-resharded"]
def shard(model):
    fully_shard(list(model))
    fully_shard(model)
    return model


# %% shard-model-first
# title = "The model is made a unit before its layers"
# fails.fsdp-tests = ["fsdp.model-first"]
def shard(model):
    fully_shard(model)
    for layer in model:
        fully_shard(layer)
    return model


# %% shard-offloads
# title = "Weights wait in the memory of the CPU"
# fails.fsdp-tests = ["fsdp.policy"]
def shard(model):
    from torch.distributed.fsdp import CPUOffloadPolicy

    for layer in (*model, model):
        fully_shard(layer, offload_policy=CPUOffloadPolicy(pin_memory=False))
    return model


# %% shard-only-linear
# title = "Only linear layers are units, and not the block that holds one"
# fails.fsdp-tests = ["fsdp.too-few-units"]
# -        fully_shard(layer)
# +        if isinstance(layer, nn.Linear):
# +            fully_shard(layer)

# %% shard-returns-nothing
# title = "The model is not returned, and the measurement has none"
# fails.fsdp-tests = ["answer.wrong-type"]
# -    return model

# %% shard-whole-model-only
# title = "The model is one unit: all its weights are collected at once"
# fails.fsdp-tests = ["fsdp.one-unit"]
# -    for layer in model:
# -        fully_shard(layer)


# %% shard-wrapped-by-ddp
# title = "DDP, as before: every rank holds everything"
# fails.fsdp-tests = ["fsdp.not-sharded"]
def shard(model):
    for layer in model:
        DistributedDataParallel(layer)
    return model
