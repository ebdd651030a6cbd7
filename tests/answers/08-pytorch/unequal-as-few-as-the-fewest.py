# /// answer
# title = "All ranks make as many steps as the one with the fewest batches"
#
# [fails]
# unequal-tests = ["number of steps"]
# ///

# %% role="changes" id="train-all"
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
