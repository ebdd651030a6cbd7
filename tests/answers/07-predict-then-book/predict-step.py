# %% predict-divides-computing
# title = "Strong scaling: computing is divided by the ranks"
# fails.predict-tests = ["step-time.per-rank"]
# -    step_s = alone_s + allreduce_s(num_ranks, num_bytes, alpha, beta)
# +    step_s = alone_s / num_ranks + allreduce_s(num_ranks, num_bytes, alpha, beta)

# %% predict-share-of-communication
# title = "The share of communication in place of that of computing"
# fails.predict-tests = ["efficiency.communication"]
# -    return step_s, alone_s / step_s
# +    return step_s, 1 - alone_s / step_s

# %% predict-speed-up
# title = "The speed-up in place of the efficiency"
# fails.predict-tests = ["efficiency.speed-up"]
# -    return step_s, alone_s / step_s
# +    return step_s, num_ranks * alone_s / step_s

# %% right-predict-by-shares
# title = "The efficiency first, then the step from it, as a list"
def predict_step(alone_s, num_ranks, num_bytes, alpha, beta):
    efficiency = 1 / (1 + allreduce_s(num_ranks, num_bytes, alpha, beta) / alone_s)
    return [alone_s / efficiency, efficiency]
