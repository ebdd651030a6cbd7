# /// answer
# title = "Right: an order of one's own for each epoch, without padding"
# ///

# %% role="answer" id="read-epochs"
def read_epochs(dataset, batch_size, num_epochs, seed):
    for epoch in range(num_epochs):
        random = torch.Generator().manual_seed(1000 * seed + epoch)
        order = torch.randperm(len(dataset), generator=random)
        own = order[dist.get_rank() :: dist.get_world_size()].tolist()
        yield [[part[rows] for part in dataset.tensors] for rows in torch.tensor(own).split(batch_size)]
