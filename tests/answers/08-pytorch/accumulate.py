# %% accumulate-calls-outside
# title = "Only backward() is inside of no_sync: it was decided when the model was called"
# fails.exchanges-tests = ["exchanges.too-many"]
# -        with model.no_sync() if number < len(batches) else contextlib.nullcontext():
# -            loss = F.cross_entropy(model(x), y) / len(batches)
# -            loss.backward()
# +        loss = F.cross_entropy(model(x), y) / len(batches)
# +        with model.no_sync() if number < len(batches) else contextlib.nullcontext():
# +            loss.backward()

# %% accumulate-clips
# title = "Gradients are clipped, too"
# fails.accumulated-tests = ["accumulation.wrong"]
#              loss.backward()
# +    nn.utils.clip_grad_norm_(model.parameters(), 1.0)

# %% accumulate-divides-again
# title = "The loss is divided by the number of ranks as well, which DDP does"
# fails.accumulated-tests = ["accumulation.divided-twice"]
# -            loss = F.cross_entropy(model(x), y) / len(batches)
# +            loss = F.cross_entropy(model(x), y) / len(batches) / dist.get_world_size()

# %% accumulate-never-sends
# title = "The last batch is inside of no_sync, too: nothing is averaged over the ranks"
# fails.accumulated-tests = ["accumulation.own"]
# -        with model.no_sync() if number < len(batches) else contextlib.nullcontext():
# +        with model.no_sync():

# %% accumulate-sends-the-first
# title = "Exchange with the first batch: the later ones stay with their rank"
# fails.accumulated-tests = ["accumulation.exchanged-first"]
# -        with model.no_sync() if number < len(batches) else contextlib.nullcontext():
# +        with model.no_sync() if number > 1 else contextlib.nullcontext():

# %% accumulate-sums
# title = "The gradients of the batches are added up, and not averaged"
# fails.accumulated-tests = ["accumulation.sum"]
# -            loss = F.cross_entropy(model(x), y) / len(batches)
# +            loss = F.cross_entropy(model(x), y)

# %% right-accumulate-by-hand
# title = "Right: DDP sends nothing, and one call of one's own does"
def accumulate(model, batches):
    with model.no_sync():
        for x, y in batches:
            F.cross_entropy(model(x), y).backward()
    gradients = [parameter.grad for parameter in model.parameters()]
    flat = nn.utils.parameters_to_vector(gradients)
    dist.all_reduce(flat)
    nn.utils.vector_to_parameters(flat / len(batches) / dist.get_world_size(), gradients)


# %% right-accumulate-in-one-batch
# title = "Right: all batches as one, where they fit"
def accumulate(model, batches):
    x, y = (torch.cat(part) for part in zip(*batches))
    F.cross_entropy(model(x), y).backward()


# %% right-accumulate-on-a-stack
# title = "Right: one context around all batches but the last, and the mean by hand"
def accumulate(model, batches):
    *first, last = batches
    with model.no_sync():
        for x, y in first:
            F.cross_entropy(model(x), y).backward()
    F.cross_entropy(model(last[0]), last[1]).backward()
    for parameter in model.parameters():
        parameter.grad.div_(len(batches))


# %% right-accumulates-from-the-end
# title = "The batches are taken from the end, and the first of the list is sent"
# -    for number, (x, y) in enumerate(batches, 1):
# +    for number, (x, y) in enumerate(reversed(batches), 1):
