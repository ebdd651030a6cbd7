# %% budget-64-for-none
# title = "64 where not even 64 are enough"
# fails.budget-tests = ["expected None", "all are too few"]
def fewest_gpus(kind, num_parameters, memory_bytes, other_bytes):
    for num_gpus in (1, 2, 4, 8, 16, 32, 64):
        if predict_bytes(kind, num_parameters, num_gpus)["held"] + other_bytes <= memory_bytes:
            break
    return num_gpus


# %% budget-forgets-the-samples
# title = "Only weights, gradients and Adam's state are counted"
# fails.budget-tests = ["GPUs", "needs its other_bytes"]
# -        if predict_bytes(kind, num_parameters, num_ranks)["held"] + other_bytes <= memory_bytes:
# +        if predict_bytes(kind, num_parameters, num_ranks)["held"] <= memory_bytes:

# %% budget-must-be-less
# title = "What fits exactly is refused"
# fails.budget-tests = ["GPUs", "what fits exactly, fits"]
# -        if predict_bytes(kind, num_parameters, num_ranks)["held"] + other_bytes <= memory_bytes:
# +        if predict_bytes(kind, num_parameters, num_ranks)["held"] + other_bytes < memory_bytes:


# %% budget-without-64
# title = "The numbers end at 32"
# fails.budget-tests = ["GPUs", "64 is to be tried"]
def fewest_gpus(kind, num_parameters, memory_bytes, other_bytes):
    for power in range(6):
        if predict_bytes(kind, num_parameters, 2**power)["held"] + other_bytes <= memory_bytes:
            return 2**power
    return None
