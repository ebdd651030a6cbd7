# /// answer
# title = "dist.all_gather, which takes equal numbers of rows for granted"
#
# [fails]
# table-tests = ["numbers of rows"]
# ///

# %% role="changes" id="table"
# -    parts = [None] * dist.get_world_size()
# -    dist.all_gather_object(parts, x)
# -    return torch.cat(parts)
# +    parts = [torch.empty_like(x) for _ in range(dist.get_world_size())]
# +    dist.all_gather(parts, x)
# +    return torch.cat(parts)
