# %% right-join-of-active-ranks
# title = "Right: gradients are divided by the ranks that still have a batch"
# -    with model.join():
# +    with model.join(divide_by_initial_world_size=False):

# %% unequal-as-few-as-the-fewest
# title = "All ranks make as many steps as the one with the fewest batches"
# fails.unequal-tests = ["steps.wrong-number"]
# -    with model.join():
# -        for x, y in batches:
# -            optimizer.zero_grad()
# -            F.cross_entropy(model(x), y).backward()
# -            optimizer.step()
# +    fewest = torch.tensor(len(batches))
# +    dist.all_reduce(fewest, dist.ReduceOp.MIN)
# +    for x, y in batches[: int(fewest)]:
# +        optimizer.zero_grad()
# +        F.cross_entropy(model(x), y).backward()
# +        optimizer.step()

# %% unequal-each-alone
# title = "No exchange at all: nobody waits, and the ranks drift apart"
# fails.unequal-tests = ["apart"]
# -    with model.join():
# +    with model.no_sync():

# %% unequal-no-join
# title = "No join: a rank with more batches waits for ranks that have finished"
# fails.unequal-tests = ["had already finished"]
# -    with model.join():
# -        for x, y in batches:
# -            optimizer.zero_grad()
# -            F.cross_entropy(model(x), y).backward()
# -            optimizer.step()
# +    for x, y in batches:
# +        optimizer.zero_grad()
# +        F.cross_entropy(model(x), y).backward()
# +        optimizer.step()
