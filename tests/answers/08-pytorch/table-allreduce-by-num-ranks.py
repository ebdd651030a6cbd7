# /// answer
# title = "Divided by the notebook's number of ranks"
#
# [fails]
# table-tests = ["divided by 2", "3 of them"]
# ///

# %% role="changes" id="table"
# -    return x / dist.get_world_size()
# +    return x / num_ranks
