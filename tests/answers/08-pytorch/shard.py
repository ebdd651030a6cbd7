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


# %% shard-layers-only
# title = "Each layer is a unit, and the model is not: layers keep their weights after the forward pass"
# fails.fsdp-tests = ["still whole", "make the model a unit"]
# -    fully_shard(model)


# %% shard-layers-together
# title = "All layers are one unit: their weights are collected together"
# fails.fsdp-tests = ["still whole", "several layers"]
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


# %% shard-returns-nothing
# title = "The model is not returned, and the measurement has none"
# fails.fsdp-tests = ["shard returned None"]
# -    return model

# %% shard-whole-model-only
# title = "The model is one unit: all its weights are collected at once"
# fails.fsdp-tests = ["units of their own"]
# -    for layer in model:
# -        fully_shard(layer)


# %% shard-wrapped-by-ddp
# title = "DDP, as before: every rank holds everything"
# fails.fsdp-tests = ["rank 0", "all of the model's"]
def shard(model):
    for layer in model:
        DistributedDataParallel(layer)
    return model
