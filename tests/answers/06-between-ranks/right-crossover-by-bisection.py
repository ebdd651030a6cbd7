# /// answer
# title = "Bisection instead of a formula"
# ///

# %% role="answer" id="crossover"
def crossover(num_ranks, alpha, beta):
    def ring_is_faster(size):
        ring = 2 * (num_ranks - 1) * (alpha + size / num_ranks * beta)
        return ring < np.log2(num_ranks) * (alpha + size * beta)

    low, high = 0.0, 1e15
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if ring_is_faster(middle) else (middle, high)
    return high
