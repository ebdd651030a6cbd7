# %% num-updates-one-too-many
# title = "A smaller batch is counted where there is none"
# fails.num-updates-tests = ["expected"]
def num_updates(num_samples, batch_size, num_epochs):
    return num_epochs * (num_samples // batch_size + 1)


# %% num-updates-over-all-epochs
# title = "Samples of all epochs are run together before dividing"
# fails.num-updates-tests = ["expected"]
def num_updates(num_samples, batch_size, num_epochs):
    return -(-num_samples * num_epochs // batch_size)


# %% num-updates-rounded-down
# title = "The last, smaller batch is not counted"
# fails.num-updates-tests = ["expected"]
def num_updates(num_samples, batch_size, num_epochs):
    return num_epochs * (num_samples // batch_size)
