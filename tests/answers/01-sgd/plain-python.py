# /// answer
# title = "Loops over lists, no NumPy at all"
# ///

# %% role="answer" id="loss"
def loss(slope: float, offset: float, x, y) -> float:
    total = 0.0
    for a, b in zip(list(x), list(y)):
        total += (slope * a + offset - b) ** 2
    return total / len(x)


# %% role="answer" id="gradient"
def gradient(m, n, x, y):
    pairs = list(zip(x, y))
    d_m = sum(2 * (m * a + n - b) * a for a, b in pairs) / len(pairs)
    d_n = sum(2 * (m * a + n - b) for a, b in pairs) / len(pairs)
    return [d_m, d_n]


# %% role="answer" id="num-updates"
def num_updates(num_samples, batch_size, num_epochs):
    count = 0
    for epoch in range(num_epochs):
        for first in range(0, num_samples, batch_size):
            count += 1
    return count
