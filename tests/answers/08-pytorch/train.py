# %% right-average-by-hand
# title = "Right: broadcast and averages by hand, without DDP"
def train(model, epochs, rate):
    size = dist.get_world_size()
    for parameter in model.parameters():
        dist.broadcast(parameter.data, src=0)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate * size, momentum=0.9)
    for batches in epochs:
        for x, y in batches:
            model.zero_grad()
            nn.CrossEntropyLoss()(model(x), y).backward()
            for parameter in model.parameters():
                dist.all_reduce(parameter.grad)
                parameter.grad /= size
            optimizer.step()
    return model, optimizer


# %% right-scaled-loss
# title = "Right: the loss is scaled and not the rate, and the last gradients are cleared"
# -    optimizer = torch.optim.SGD(wrapped.parameters(), lr=rate * dist.get_world_size(), momentum=0.9)
# +    optimizer = torch.optim.SGD(wrapped.parameters(), lr=rate, momentum=0.9)

# -            F.cross_entropy(wrapped(x), y).backward()
# -            optimizer.step()
# +            loss = dist.get_world_size() * F.cross_entropy(wrapped(x), y)
# +            loss.backward()
# +            optimizer.step()
# +            optimizer.zero_grad(set_to_none=False)

# %% train-calls-the-inner-model
# title = "The model itself is called, past DDP: same start, and nothing is averaged"
# fails.averaged-tests = ["own gradients"]
# -            F.cross_entropy(wrapped(x), y).backward()
# +            F.cross_entropy(model(x), y).backward()

# %% train-divides-again
# title = "The gradients are averaged, and divided once more"
# fails.rate-tests = ["has divided by the number of ranks already"]
# -            optimizer.step()
# +            for parameter in wrapped.parameters():
# +                parameter.grad /= dist.get_world_size()
# +            optimizer.step()

# %% train-in-evaluation-mode
# title = "The model is in evaluation mode: dropout and batch normalisation do not train"
# fails.start-tests = ["training mode"]
# fails.averaged-tests = ["training mode"]
# fails.rate-tests = ["training mode"]
#      wrapped = DistributedDataParallel(model)
# +    wrapped.eval()

# %% train-keeps-gradients
# title = "Gradients are never set to zero: each step has those of all before"
# fails.averaged-tests = ["updates.unexplained"]
# consequences = ["rate-tests"]
# -            optimizer.zero_grad()

# %% train-no-momentum
# title = "Plain SGD"
# fails.averaged-tests = ["momentum"]
# -    optimizer = torch.optim.SGD(wrapped.parameters(), lr=rate * dist.get_world_size(), momentum=0.9)
# +    optimizer = torch.optim.SGD(wrapped.parameters(), lr=rate * dist.get_world_size())

# %% train-not-wrapped
# title = "Nobody wraps the model: each rank trains alone"
# fails.start-tests = ["broadcast.missing"]
# fails.averaged-tests = ["own gradients"]
# -    wrapped = DistributedDataParallel(model)
# +    wrapped = model

# %% train-returns-the-model
# title = "Only the model is returned"
# fails.start-tests = ["train returned"]
# fails.averaged-tests = ["train returned"]
# fails.rate-tests = ["train returned"]
# -    return wrapped, optimizer
# +    return wrapped

# %% train-scaled-by-the-node
# title = "The rate is multiplied by the ranks of a node"
# fails.rate-tests = ["learning rate"]
# consequences = ["start-tests", "averaged-tests"]
# -    optimizer = torch.optim.SGD(wrapped.parameters(), lr=rate * dist.get_world_size(), momentum=0.9)
# +    optimizer = torch.optim.SGD(wrapped.parameters(), lr=rate * int(os.environ["LOCAL_WORLD_SIZE"]), momentum=0.9)

# %% train-scaled-twice
# title = "Rate and loss are both multiplied by the number of ranks"
# fails.rate-tests = ["rate.scaled-twice"]
# -            F.cross_entropy(wrapped(x), y).backward()
# +            (dist.get_world_size() * F.cross_entropy(wrapped(x), y)).backward()

# %% train-summed-loss
# title = "The loss is the sum of the batch"
# fails.rate-tests = ["4 times", "is the loss their sum"]
# -            F.cross_entropy(wrapped(x), y).backward()
# +            F.cross_entropy(wrapped(x), y, reduction="sum").backward()

# %% train-unscaled
# title = "The rate of one rank, though the batch is that of all"
# fails.rate-tests = ["rate.not-scaled"]
# -    optimizer = torch.optim.SGD(wrapped.parameters(), lr=rate * dist.get_world_size(), momentum=0.9)
# +    optimizer = torch.optim.SGD(wrapped.parameters(), lr=rate, momentum=0.9)
