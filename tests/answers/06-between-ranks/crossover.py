# %% crossover-in-bits
# title = "Bits in place of bytes"
# fails.crossover-tests = ["units.bits"]
# -    return more_steps * alpha / ((num_rounds - 2 * (num_ranks - 1) / num_ranks) * beta)
# +    return 8 * more_steps * alpha / ((num_rounds - 2 * (num_ranks - 1) / num_ranks) * beta)

# %% crossover-natural-logarithm
# title = "The natural logarithm"
# fails.crossover-tests = ["crossover.negative"]
# -    num_rounds = np.log2(num_ranks)
# +    num_rounds = np.log(num_ranks)

# %% crossover-upside-down
# title = "Beta over alpha"
# fails.crossover-tests = ["crossover.wrong"]
# -    return more_steps * alpha / ((num_rounds - 2 * (num_ranks - 1) / num_ranks) * beta)
# +    return more_steps * beta / ((num_rounds - 2 * (num_ranks - 1) / num_ranks) * alpha)

# %% right-crossover-by-bisection
# title = "Bisection instead of a formula"
def crossover(num_ranks, alpha, beta):
    def ring_is_faster(size):
        ring = 2 * (num_ranks - 1) * (alpha + size / num_ranks * beta)
        return ring < np.log2(num_ranks) * (alpha + size * beta)

    low, high = 0.0, 1e15
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if ring_is_faster(middle) else (middle, high)
    return high
