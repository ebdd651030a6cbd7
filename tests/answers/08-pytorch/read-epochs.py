# %% epochs-by-local-rank
# title = "Shards of a node: right on one, and on two each node reads all"
# fails.shards-tests = ["shards.overlap"]
# -    sampler = DistributedSampler(dataset, seed=seed)
# +    size, rank = int(os.environ["LOCAL_WORLD_SIZE"]), int(os.environ["LOCAL_RANK"])
# +    sampler = DistributedSampler(dataset, size, rank, seed=seed)

# %% epochs-loader-shuffles
# title = "The loader shuffles without the seed, and nobody shards"
# fails.shards-tests = ["shards.none"]
# fails.order-tests = ["order.not-repeatable"]
# -    sampler = DistributedSampler(dataset, seed=seed)
# -    loader = DataLoader(dataset, batch_size, sampler=sampler)
# +    loader = DataLoader(dataset, batch_size, shuffle=True)

# -        sampler.set_epoch(epoch)

# %% epochs-no-set-epoch
# title = "The sampler is never told the epoch: each has the order of the first"
# fails.order-tests = ["order.repeated"]
# -        sampler.set_epoch(epoch)

# %% epochs-not-shuffled
# title = "The sampler does not shuffle, and set_epoch changes nothing"
# fails.order-tests = ["order.not-shuffled"]
# -    sampler = DistributedSampler(dataset, seed=seed)
# +    sampler = DistributedSampler(dataset, seed=seed, shuffle=False)

# %% epochs-of-a-fixed-share
# title = "Samples are shared out and then shuffled: each rank has the same ones in every epoch"
# fails.order-tests = ["order.of-shards"]
def read_epochs(dataset, batch_size, num_epochs, seed):
    share = Subset(dataset, list(DistributedSampler(dataset, shuffle=False)))
    random = torch.Generator().manual_seed(seed)
    for _ in range(num_epochs):
        yield DataLoader(share, batch_size, shuffle=True, generator=random)


# %% epochs-sampler-drops-the-last
# title = "The sampler drops what does not divide"
# fails.shards-tests = ["shards.incomplete"]
# -    sampler = DistributedSampler(dataset, seed=seed)
# +    sampler = DistributedSampler(dataset, seed=seed, drop_last=True)

# %% epochs-set-epoch-afterwards
# title = "The epoch is set after its batches: the first two are alike"
# fails.order-tests = ["order.repeated"]
# -        sampler.set_epoch(epoch)
#          yield loader
# +        sampler.set_epoch(epoch)

# %% epochs-set-epoch-once
# title = "The epoch is set once, before the loop"
# fails.order-tests = ["order.repeated"]
# -    for epoch in range(num_epochs):
# -        sampler.set_epoch(epoch)
# +    sampler.set_epoch(num_epochs)
# +    for _ in range(num_epochs):


# %% epochs-unseeded
# title = "Rank 0 draws an order, without the seed, and sends it: another in every run"
# fails.order-tests = ["order.not-repeatable"]
def read_epochs(dataset, batch_size, num_epochs, seed):
    size = dist.get_world_size()
    for _ in range(num_epochs):
        order = torch.randperm(len(dataset))
        dist.broadcast(order, src=0)
        order = torch.cat([order, order[: -len(order) % size]])
        yield DataLoader(Subset(dataset, order[dist.get_rank() :: size].tolist()), batch_size)


# %% epochs-without-padding
# title = "Nothing comes twice: some ranks have a sample more, and wait in its step for ever"
# fails.shards-tests = ["shards.uneven"]
def read_epochs(dataset, batch_size, num_epochs, seed):
    for epoch in range(num_epochs):
        order = torch.randperm(len(dataset), generator=torch.Generator().manual_seed(seed + epoch)).tolist()
        yield DataLoader(Subset(dataset, order[dist.get_rank() :: dist.get_world_size()]), batch_size)


# %% epochs-without-seed
# title = "The seed is not passed on: it is always the sampler's own"
# fails.order-tests = ["order.fixed-seed"]
# -    sampler = DistributedSampler(dataset, seed=seed)
# +    sampler = DistributedSampler(dataset)


# %% right-epochs-by-permutation
# title = "Right: an order of one's own for each epoch"
def read_epochs(dataset, batch_size, num_epochs, seed):
    for epoch in range(num_epochs):
        random = torch.Generator().manual_seed(1000 * seed + epoch)
        order = torch.randperm(len(dataset), generator=random)
        order = torch.cat([order, order[: -len(order) % dist.get_world_size()]])
        own = order[dist.get_rank() :: dist.get_world_size()].tolist()
        yield [[part[rows] for part in dataset.tensors] for rows in torch.tensor(own).split(batch_size)]


# %% right-sampler-of-each-epoch
# title = "Right: a new sampler for each epoch, with a seed of its own"
def read_epochs(dataset, batch_size, num_epochs, seed):
    return [
        DataLoader(dataset, batch_size, sampler=DistributedSampler(dataset, seed=seed * 10_000 + epoch))
        for epoch in range(num_epochs)
    ]
