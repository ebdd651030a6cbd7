# /// answer
# title = "Right: broadcast and averages by hand, without DDP"
# ///

# %% role="answer" id="train"
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
