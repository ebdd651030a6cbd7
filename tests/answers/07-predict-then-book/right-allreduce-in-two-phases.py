# /// answer
# title = "Adds the steps of both phases one by one"
# ///

# %% role="answer" id="allreduce-s"
def allreduce_s(num_ranks, num_bytes, alpha, beta):
    total = 0.0
    for _phase in ("reduce-scatter", "allgather"):
        for _step in range(1, num_ranks):
            total += alpha + beta * num_bytes / num_ranks
    return total
