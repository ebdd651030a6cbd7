# /// answer
# title = "64 where not even 64 are enough"
#
# [fails]
# budget-tests = ["expected None", "all are too few"]
# ///

# %% role="answer" id="fewest-gpus"
def fewest_gpus(kind, num_parameters, memory_bytes, other_bytes):
    for num_gpus in (1, 2, 4, 8, 16, 32, 64):
        if predict_bytes(kind, num_parameters, num_gpus)["held"] + other_bytes <= memory_bytes:
            break
    return num_gpus
