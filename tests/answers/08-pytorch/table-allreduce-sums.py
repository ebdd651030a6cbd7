# /// answer
# title = "dist.all_reduce sums"
#
# [fails]
# table-tests = ["sum over the ranks"]
# ///

# %% role="changes" id="table"
# -    return x / dist.get_world_size()
# +    return x
