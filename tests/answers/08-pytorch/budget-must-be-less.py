# /// answer
# title = "What fits exactly is refused"
#
# [fails]
# budget-tests = ["GPUs", "what fits exactly, fits"]
# ///

# %% role="changes" id="fewest-gpus"
# -        if predict_bytes(kind, num_parameters, num_ranks)["held"] + other_bytes <= memory_bytes:
# +        if predict_bytes(kind, num_parameters, num_ranks)["held"] + other_bytes < memory_bytes:
