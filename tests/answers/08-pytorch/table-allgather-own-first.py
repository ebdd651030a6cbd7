# /// answer
# title = "The rank's own rows, and then those of the others"
#
# [fails]
# table-tests = ["own rows come first"]
# ///

# %% role="changes" id="table"
# -    return torch.cat(parts)
# +    rank = dist.get_rank()
# +    return torch.cat([x, *parts[:rank], *parts[rank + 1 :]])
