# /// answer
# title = "The efficiency first, then the step from it, as a list"
# ///

# %% role="answer" id="predict-step"
def predict_step(alone_s, num_ranks, num_bytes, alpha, beta):
    efficiency = 1 / (1 + allreduce_s(num_ranks, num_bytes, alpha, beta) / alone_s)
    return [alone_s / efficiency, efficiency]
