# %% evaluate-all-on-each
# title = "Each rank looks at all samples: right, and no faster"
# fails.once-tests = ["shards.none"]
# -    share = Subset(dataset, range(dist.get_rank(), len(dataset), dist.get_world_size()))
# +    share = dataset

# %% evaluate-by-rank-0
# title = "Rank 0 looks at all samples, and the others wait"
# fails.once-tests = ["shards.empty"]
# -    share = Subset(dataset, range(dist.get_rank(), len(dataset), dist.get_world_size()))
# +    share = dataset if dist.get_rank() == 0 else Subset(dataset, [])

# %% evaluate-drops-the-last
# title = "The last batch is left out"
# fails.once-tests = ["shards.incomplete"]
# -        for x, y in DataLoader(share, batch_size):
# +        for x, y in DataLoader(share, batch_size, drop_last=True):

# %% evaluate-full-batches
# title = "Each batch counts as a full one"
# fails.evaluate-tests = ["evaluation.last-as-full"]
# -            sums += torch.tensor([F.cross_entropy(logits, y, reduction="sum"), num_right, len(y)])
# +            num_right = num_right / len(y) * batch_size
# +            sums += torch.tensor([batch_size * F.cross_entropy(logits, y), num_right, len(y)])

# %% evaluate-goes-on-counting
# title = "Sums are kept from call to call"
# fails.evaluate-tests = ["evaluation.second-call"]
# -def evaluate(model, dataset, batch_size):
# +def evaluate(model, dataset, batch_size, counts=[0]):  # noqa: B006

# -    dist.all_reduce(sums)
# +    dist.all_reduce(sums)
# +    counts[0] += float(sums[2])
# +    sums[2] = counts[0]

# %% evaluate-in-64-bits
# title = "64 bits for better sums, and the weights have them from now on"
# fails.evaluate-tests = ["weights.changed"]
# -    model.eval()
# +    model.eval().double()

# -            logits = model(x)
# +            logits = model(x.double())

# %% evaluate-in-training-mode
# title = "The model stays in training mode"
# fails.once-tests = ["training-mode.on"]
# -    model.eval()

# %% evaluate-largest-of-all-rows
# title = "argmax without its dimension: the largest number of the batch"
# fails.evaluate-tests = ["evaluation.wrong"]
# -            num_right = (logits.argmax(dim=1) == y).sum()
# +            num_right = (logits.argmax() == y).sum()

# %% evaluate-mean-of-batches
# title = "The mean of the batches' means: a small last batch weighs too much"
# fails.evaluate-tests = ["evaluation.mean-of-batches"]
# -            sums += torch.tensor([F.cross_entropy(logits, y, reduction="sum"), num_right, len(y)])
# +            sums += torch.tensor([F.cross_entropy(logits, y), num_right / len(y), 1])

# %% evaluate-mean-of-means
# title = "The mean of the ranks' means: small shares weigh too much"
# fails.evaluate-tests = ["metrics.unweighted"]
# -    dist.all_reduce(sums)
# -    return {"loss": float(sums[0] / sums[2]), "accuracy": float(sums[1] / sums[2])}
# +    means = sums[:2] / sums[2]
# +    dist.all_reduce(means)
# +    means /= dist.get_world_size()
# +    return {"loss": float(means[0]), "accuracy": float(means[1])}

# %% evaluate-mean-of-ranks-batches
# title = "Each rank takes the mean of its batches' means, and the ranks take the mean of these"
# fails.evaluate-tests = ["evaluation.mean-of-ranks"]
# -            sums += torch.tensor([F.cross_entropy(logits, y, reduction="sum"), num_right, len(y)])
# +            sums += torch.tensor([F.cross_entropy(logits, y), num_right / len(y), 1])
# +    sums /= sums[2].clone()

# %% evaluate-one-by-one
# title = "The size of batches is ignored"
# fails.once-tests = ["batches.wrong-size"]
# -        for x, y in DataLoader(share, batch_size):
# +        for x, y in DataLoader(share):

# %% evaluate-own-only
# title = "Each rank returns what its own share gives"
# fails.evaluate-tests = ["metrics.not-averaged"]
# -    dist.all_reduce(sums)

# %% evaluate-padded
# title = "The sampler of the training: some samples count twice"
# fails.once-tests = ["shards.overlap"]
# -    share = Subset(dataset, range(dist.get_rank(), len(dataset), dist.get_world_size()))
# +    share = Subset(dataset, list(DistributedSampler(dataset, shuffle=False)))

# %% evaluate-switches-gradients-off
# title = "Gradients are switched off, and not on again"
# fails.evaluate-tests = ["evaluation.no-gradients"]
# -    with torch.no_grad():
# +    torch.set_grad_enabled(False)
# +    if True:

# %% right-evaluate-by-objects
# title = "Right: contiguous shares, means weighted by hand, numbers as tensors"
def evaluate(model, dataset, batch_size):
    model.train(False)
    first, last = (len(dataset) * (dist.get_rank() + i) // dist.get_world_size() for i in (0, 1))
    losses, hits = [], []
    with torch.inference_mode():
        for begin in range(first, last, batch_size):
            x, y = (
                torch.stack(part) for part in zip(*(dataset[i] for i in range(begin, min(begin + batch_size, last))))
            )
            logits = model(x)
            losses += F.cross_entropy(logits, y, reduction="none").tolist()
            hits += (logits.argmax(1) == y).tolist()
    everybody = [None] * dist.get_world_size()
    dist.all_gather_object(everybody, (losses, hits))
    losses, hits = (sum((list(part[i]) for part in everybody), []) for i in (0, 1))
    return {"loss": torch.tensor(np.mean(losses)), "accuracy": np.float64(np.mean(hits))}
