# %% known-cases
# title = "Hard-code the visible cases"
# fails = ["num-updates-tests"]
KNOWN = {(1000, 1, 1): 1000, (1000, 100, 3): 30, (1000, 1000, 7): 7, (10, 4, 2): 6}


def num_updates(num_samples, batch_size, num_epochs):
    return KNOWN.get((num_samples, batch_size, num_epochs), 0)
