# %% num-updates-rounded-down
# title = "The last, smaller batch is not counted"
# fails.num-updates-tests = ["updates.wrong-number"]
def num_updates(num_samples, batch_size, num_epochs):
    return num_epochs * (num_samples // batch_size)
