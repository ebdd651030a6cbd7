# /// answer
# title = "The numbers end at 32"
#
# [fails]
# budget-tests = ["GPUs", "64 is to be tried"]
# ///

# %% role="answer" id="fewest-gpus"
def fewest_gpus(kind, num_parameters, memory_bytes, other_bytes):
    for power in range(6):
        if predict_bytes(kind, num_parameters, 2**power)["held"] + other_bytes <= memory_bytes:
            return 2**power
    return None
