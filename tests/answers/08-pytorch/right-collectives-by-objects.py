# /// answer
# title = "Right: both collectives by objects that all ranks send"
# ///

# %% role="answer" id="table"
def allreduce(x):
    return torch.stack([part for part in gathered(x)]).mean(dim=0)


def allgather(x):
    return torch.vstack(gathered(x))


def gathered(x):
    parts = [None] * dist.get_world_size()
    dist.all_gather_object(parts, x)
    return parts
