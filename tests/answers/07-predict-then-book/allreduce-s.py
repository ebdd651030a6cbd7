# %% allreduce-between-two
# title = "The formula for two ranks, which the notebook has"
# fails.allreduce-tests = ["allreduce-time.wrong"]
# consequences = ["predict-tests"]
# -    return 2 * (num_ranks - 1) * (alpha + num_bytes / num_ranks * beta)
# +    return 2 * alpha + num_bytes * beta

# %% allreduce-half-a-ring
# title = "The reduce-scatter alone"
# fails.allreduce-tests = ["allreduce-time.half-ring"]
# consequences = ["predict-tests"]
# -    return 2 * (num_ranks - 1) * (alpha + num_bytes / num_ranks * beta)
# +    return (num_ranks - 1) * (alpha + num_bytes / num_ranks * beta)

# %% allreduce-in-microseconds
# title = "Microseconds"
# fails.allreduce-tests = ["units.million"]
# consequences = ["predict-tests"]
# -    return 2 * (num_ranks - 1) * (alpha + num_bytes / num_ranks * beta)
# +    return 2e6 * (num_ranks - 1) * (alpha + num_bytes / num_ranks * beta)

# %% allreduce-whole-array-each-time
# title = "Each message is the whole array"
# fails.allreduce-tests = ["allreduce-time.whole-array"]
# consequences = ["predict-tests"]
# -    return 2 * (num_ranks - 1) * (alpha + num_bytes / num_ranks * beta)
# +    return 2 * (num_ranks - 1) * (alpha + num_bytes * beta)

# %% allreduce-without-latency
# title = "Only the bytes cost something"
# fails.allreduce-tests = ["allreduce-time.no-latency"]
# consequences = ["predict-tests"]
# -    return 2 * (num_ranks - 1) * (alpha + num_bytes / num_ranks * beta)
# +    return 2 * (num_ranks - 1) / num_ranks * num_bytes * beta

# %% right-allreduce-in-two-phases
# title = "Adds the steps of both phases one by one"
def allreduce_s(num_ranks, num_bytes, alpha, beta):
    total = 0.0
    for _phase in ("reduce-scatter", "allgather"):
        for _step in range(1, num_ranks):
            total += alpha + beta * num_bytes / num_ranks
    return total
