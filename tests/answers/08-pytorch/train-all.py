# %% right-join-of-active-ranks
# title = "Right: gradients are divided by the ranks that still have a batch"
# -    with model.join():
# +    with model.join(divide_by_initial_world_size=False):

# %% right-zeros-of-no-batch
# title = "Right: a rank without batches goes on with gradients of zero"
def train_all(model, optimizer, batches):
    most = torch.tensor(len(batches))
    dist.all_reduce(most, dist.ReduceOp.MAX)
    for step in range(int(most)):
        optimizer.zero_grad()
        x, y = batches[min(step, len(batches) - 1)]
        (F.cross_entropy(model(x), y) * (step < len(batches))).backward()
        optimizer.step()


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
# fails.unequal-tests = ["weights.differ"]
# -    with model.join():
# +    with model.no_sync():


# %% unequal-fills-up
# title = "A rank without batches takes its last one again"
# fails.unequal-tests = ["weights.wrong"]
def train_all(model, optimizer, batches):
    most = torch.tensor(len(batches))
    dist.all_reduce(most, dist.ReduceOp.MAX)
    for step in range(int(most)):
        optimizer.zero_grad()
        x, y = batches[min(step, len(batches) - 1)]
        F.cross_entropy(model(x), y).backward()
        optimizer.step()


# %% unequal-no-join
# title = "No join: a rank with more batches waits for ranks that have finished"
# fails.unequal-tests = ["collective.peer-finished"]
# -    with model.join():
# -        for x, y in batches:
# -            optimizer.zero_grad()
# -            F.cross_entropy(model(x), y).backward()
# -            optimizer.step()
# +    for x, y in batches:
# +        optimizer.zero_grad()
# +        F.cross_entropy(model(x), y).backward()
# +        optimizer.step()
