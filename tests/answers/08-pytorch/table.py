# %% right-collectives-by-objects
# title = "Right: both collectives by objects that all ranks send"
def allreduce(x):
    return torch.stack([part for part in gathered(x)]).mean(dim=0)


def allgather(x):
    return torch.cat(gathered(x))


def gathered(x):
    parts = [None] * dist.get_world_size()
    dist.all_gather_object(parts, x)
    return parts


# %% table-allgather-of-equal-rows
# title = "dist.all_gather, which takes equal numbers of rows for granted"
# fails.table-tests = ["allgather.unequal-rows"]
# -    parts = [None] * dist.get_world_size()
# -    dist.all_gather_object(parts, x)
# -    return torch.cat(parts)
# +    parts = [torch.empty_like(x) for _ in range(dist.get_world_size())]
# +    dist.all_gather(parts, x)
# +    return torch.cat(parts)

# %% table-allgather-of-matrices
# title = "vstack, which makes rows of plain numbers longer"
# fails.table-tests = ["allgather.plain-numbers"]
# -    return torch.cat(parts)
# +    return torch.vstack(parts)

# %% table-allgather-own-first
# title = "The rank's own rows, and then those of the others"
# fails.table-tests = ["allgather.own-first"]
# -    return torch.cat(parts)
# +    rank = dist.get_rank()
# +    return torch.cat([x, *parts[:rank], *parts[rank + 1 :]])

# %% table-allgather-stacks
# title = "Rows of equal numbers are taken for granted"
# fails.table-tests = ["answer.raised"]
# -    return torch.cat(parts)
# +    return torch.stack(parts)

# %% table-allreduce-by-num-ranks
# title = "Divided by the notebook's number of ranks"
# fails.table-tests = ["allreduce.fixed-size"]
# -    return x / dist.get_world_size()
# +    return x / num_ranks

# %% table-allreduce-in-place
# title = "dist.all_reduce changes the tensor that it gets"
# fails.table-tests = ["data.changed"]
# -    x = x.clone()

# %% table-allreduce-sums
# title = "dist.all_reduce sums"
# fails.table-tests = ["allreduce.sum"]
# -    return x / dist.get_world_size()
# +    return x

# %% table-allreduce-to-rank-0
# title = "Rank 0 alone has the sum"
# fails.table-tests = ["collective.wrong"]
# -    dist.all_reduce(x)
# +    dist.reduce(x, 0)

# %% table-same-tensor-on-one-rank
# title = "One rank gets its own tensor back, not a new one"
# fails.table-tests = ["data.not-new"]
# +    if dist.get_world_size() == 1:
# +        return x
#      x = x.clone()

# %% table-without-zero-rows
# title = "Filled up with rows of zeros, and all rows of zeros removed again"
# fails.table-tests = ["collective.wrong-shape"]
# -    parts = [None] * dist.get_world_size()
# -    dist.all_gather_object(parts, x)
# -    return torch.cat(parts)
# +    parts = [None] * dist.get_world_size()
# +    dist.all_gather_object(parts, x)
# +    rows = torch.cat(parts)
# +    return rows[(rows != 0).reshape(len(rows), -1).any(dim=1)]
