# /// answer
# title = "Right: a new sampler for each epoch, with a seed of its own"
# ///

# %% role="answer" id="read-epochs"
def read_epochs(dataset, batch_size, num_epochs, seed):
    return [
        DataLoader(dataset, batch_size, sampler=DistributedSampler(dataset, seed=seed * 10_000 + epoch))
        for epoch in range(num_epochs)
    ]
