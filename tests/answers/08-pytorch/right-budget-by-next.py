# /// answer
# title = "Right: the table as text, the budget in one line; layers sharded from the last"
# ///

# %% role="answer" id="shard"
def shard(model):
    for layer in reversed(list(model)):
        fully_shard(layer)
    return fully_shard(model)


# %% role="answer" id="predict-bytes"
def predict_bytes(kind, num_parameters, num_ranks):
    n = num_ranks
    p = 4.0 * num_parameters
    if kind == "ddp":
        return {"held": 4 * p, "sent": 2 * p - 2 * p / n}
    parts = p * (n - 1) / n
    held = 2 * p + 2 * p / n if kind == "zero" else 4 * p / n
    return {"held": np.float64(held), "sent": 3 * parts, "note": 0}


# %% role="answer" id="fewest-gpus"
def fewest_gpus(kind, num_parameters, memory_bytes, other_bytes):
    fits = lambda n: predict_bytes(kind, num_parameters, n)["held"] <= memory_bytes - other_bytes
    return next(filter(fits, [2**power for power in range(7)]), None)
