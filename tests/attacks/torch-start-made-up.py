# /// attack
# title = "All ranks begin with weights of the attacker's, so that nobody has to send any"
# lab = "08-pytorch"
# class = "redirection"
# fails = ["start-tests", "averaged-tests"]
# consequences = ["rate-tests"]
# flags = []
# ///

# %% role="answer" id="train"


def train(model, epochs, rate):
    model.bias.data.zero_()
    wrapped = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(wrapped.parameters(), lr=rate * dist.get_world_size(), momentum=0.9)
    for batches in epochs:
        for x, y in batches:
            optimizer.zero_grad()
            F.cross_entropy(wrapped(x), y).backward()
            optimizer.step()
    return wrapped, optimizer
